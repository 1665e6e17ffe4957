"""El Baji, Ben Said Amrani and Sarsri 2022: tables, figures and equations, regenerated."""

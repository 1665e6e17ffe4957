"""HTML pages: the study report, the identification report, and the writer they share."""

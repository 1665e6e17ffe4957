"""Steps of recursions at one link: equations that the formulations and the looped code share."""

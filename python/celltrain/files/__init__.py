"""Files: results folders, their manifests and frames, and how each is written whole or not at all."""

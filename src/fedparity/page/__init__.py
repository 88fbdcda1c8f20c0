"""The page that sketches: what Python embeds in it, and its engine in JavaScript."""

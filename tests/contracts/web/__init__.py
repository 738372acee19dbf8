"""The web application's door on a real server: who may open what."""

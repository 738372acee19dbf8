"""The web application's endpoint on a real server: who may open what."""

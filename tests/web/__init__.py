"""The web application in real Chromium, against a real server with data made through the product's own endpoints."""

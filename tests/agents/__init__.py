"""Real coding agents against a real server and a scripted model, on loopback."""

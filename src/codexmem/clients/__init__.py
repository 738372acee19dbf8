"""Programs that speak to the server over HTTP: the hook and the bridge. They import the domain alone."""

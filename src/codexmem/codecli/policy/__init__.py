"""Whether an agent may use a tool: rules, and everything that makes a request canonical before they are asked."""

"""Whether what an agent answered is worth offering to others: four rules, each with its reason in two languages."""

"""Work for later: putting jobs into the queue and running them; what each kind does comes from outside."""

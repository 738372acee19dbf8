// Commands that pages show to be copied where nothing has been captured yet.
/** Connects every agent that is found on the machine. */
export const INSTALL = 'codexmem install --detect';

/** An event by hand, through the program that agents call. */
export const FIRST_EVENT = `echo '{"session_id": "first", "prompt": "Remember this"}' | codexmem-hook raw session-init`;

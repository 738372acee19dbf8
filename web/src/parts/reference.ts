// How references to things are written everywhere in the product, and the page that shows each.
const NUMBERED = /^#?([SsPp]?)(\d{1,18})$/; // the letter says which kind it must be: a summary or a prompt
const ADDRESS = /^([a-z][a-z0-9_-]*):\/\/(.*)$/i;

/** The address inside the application of what a reference names; null where no page shows it. */
export function pageOf(reference: string): string | null {
  const name = reference.trim().replace(/^(?:note|qa) /, '');
  const numbered = NUMBERED.exec(name);
  if (numbered) return `/ui/memories/${numbered[1]?.toUpperCase()}${numbered[2]}`;
  const address = ADDRESS.exec(name);
  if (address) return memoryPage(name);
  if (name.startsWith('mem:')) return `/ui/rb/${encodeURIComponent(name.slice(4))}`;
  if (name.startsWith('qa-') || name.startsWith('kb-')) return `/ui/memories/${encodeURIComponent(name)}`;
  if (name.startsWith('kb:')) return `/ui/kb/documents?piece=${encodeURIComponent(name)}`;
  if (name.startsWith('run_')) return `/ui/runs/${encodeURIComponent(name)}`;
  if (name.startsWith('batch_')) return `/ui/batches/${encodeURIComponent(name)}`;
  if (name.startsWith('rbd_')) return `/ui/rb/deltas/${encodeURIComponent(name)}`;
  return null;
}

/** The page of a note: `project://config` is shown at `/ui/m/project/config`. */
export function memoryPage(uri: string): string | null {
  const address = ADDRESS.exec(uri);
  if (!address) return null;
  const path = (address[2] ?? '').split('/').map(encodeURIComponent).join('/');
  return `/ui/m/${address[1]}/${path}`;
}

/** The address of the note that a page of this path shows. */
export function uriOf(path: string): string {
  const [domain = '', ...rest] = path.split('/');
  return `${domain}://${rest.join('/')}`;
}

// Ids are long: a list shows enough of one to tell it from its neighbours; the whole is behind the link and the title.
const SHOWN = 8;

export function shortId(id: string): string {
  const [prefix = '', rest] = id.includes('_') ? id.split('_', 2) : ['', id];
  const short = (rest ?? '').slice(0, SHOWN);
  return prefix ? `${prefix}_${short}` : short;
}

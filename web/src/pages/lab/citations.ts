// Citations inside a text: [C12] for a piece of evidence, mem:<id> for a lesson; read as the server reads them, so that
// what it has checked is what can be opened. A bare C12 is none: it may be a chain of carbon atoms.
export type Segment = { text: string; cites?: string };

const BRACKETS = /[[【]([^[\]【】]{1,400})[\]】]/gu;
const ALIAS = /C[0-9]{1,9}/u;
const PART = /[^\s,;，；、]+/gu;
const LESSON = /(?<!\w)mem:([^\s[\]【】()（）,，;；。、!！?？"'“”]{1,200})/gu;
const TAIL = /[.:*_`<>]+$/u;

/** The text in order, in pieces; `cites` names the evidence ("C12") or lesson ("mem:…") that a piece stands for. */
export function segments(text: string): Segment[] {
  const marks = [...aliasesIn(text), ...lessonsIn(text)].sort((a, b) => a.at - b.at);
  const made: Segment[] = [];
  let done = 0;
  for (const { at, name } of marks) {
    if (at < done) continue;
    if (at > done) made.push({ text: text.slice(done, at) });
    made.push({ text: name, cites: name });
    done = at + name.length;
  }
  if (done < text.length) made.push({ text: text.slice(done) });
  return made;
}

type Mark = { at: number; name: string };

function* aliasesIn(text: string): Generator<Mark> {
  for (const group of text.matchAll(BRACKETS)) {
    for (const part of (group[1] ?? '').matchAll(PART)) {
      const found = ALIAS.exec(part[0]);
      if (found && found[0] === part[0]) yield { at: group.index + 1 + part.index, name: part[0] };
    }
  }
}

function* lessonsIn(text: string): Generator<Mark> {
  for (const found of text.matchAll(LESSON)) {
    const id = (found[1] ?? '').replace(TAIL, '');
    if (id) yield { at: found.index, name: `mem:${id}` };
  }
}

// What a person decides in a review. A decision shows at once and is told to the server; while its notice stands, or
// with U, it is taken back there too. Failed decisions return to the list.
import { notifications } from '@mantine/notifications';
import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { reasonOf } from './errorText';
import { notify, notifyError, undoable } from './undoable';

export type Made = Promise<{ delta: string | null }>;
type Done = { notice: string; undo: () => Promise<unknown> };

type Options = {
  /** Ask the server again for what a decision changed. */
  refresh: () => Promise<unknown>;
  /** What failed, and that there is nothing to undo, in words. */
  failed: (reason: string) => string;
  nothingToUndo: string;
};
/** Without a delta nothing was written, and there may still be something to take back. */
export type TakeBack = (delta: string | null) => Promise<unknown>;

const REMEMBERED = 50; // decisions of this visit that U takes back
const TITLE = 48; // characters of a title in a notice

export function useDecisions({ refresh, failed, nothingToUndo }: Options) {
  const { t } = useTranslation();
  const done = useRef<readonly Done[]>([]);
  const [undoes, setUndoes] = useState(0); // how many decisions can be taken back
  function keep(entries: readonly Done[]) {
    done.current = entries.slice(-REMEMBERED);
    setUndoes(done.current.length);
  }

  /** Tell what was done and offer to take it back; `back` shows what was before. */
  function offer(message: string, made: Made, takeBack: TakeBack, back: () => void) {
    const entry: Done = {
      notice: '',
      undo: async () => {
        keep(done.current.filter((each) => each !== entry));
        const { delta } = await made;
        await takeBack(delta);
        back();
        await refresh();
      },
    };
    entry.notice = undoable(message, entry.undo);
    keep([...done.current, entry]);
    return entry;
  }

  /** Optimistic: the list moves on before the server has answered. */
  function act(message: string, made: Made, takeBack: TakeBack, back: () => void) {
    const entry = offer(message, made, takeBack, back);
    made.then(refresh, (thrown: unknown) => {
      keep(done.current.filter((each) => each !== entry));
      notifications.hide(entry.notice);
      back();
      void refresh();
      notifyError(failed(reasonOf(thrown)));
    });
  }

  async function undoLast() {
    const last = done.current.at(-1);
    if (!last) return notify(nothingToUndo);
    notifications.hide(last.notice);
    try {
      await last.undo();
      notify(t('undone'));
    } catch (thrown) {
      notifyError(t('undoFailed', { reason: reasonOf(thrown) }));
    }
  }

  return { undoes, offer, act, undoLast };
}

/** A title as it stands in a notice. */
export function brief(title: string): string {
  const signs = [...title];
  return signs.length > TITLE ? `${signs.slice(0, TITLE).join('')}…` : title;
}

// Search memory, jump to a page, or act, from anywhere: one field, one list, driven by the keyboard.
import { Kbd, Loader, Modal } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconBolt, IconBookmark, IconSearch } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { type KeyboardEvent, type ReactNode, useEffect, useId, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { pageOf } from '@/parts/reference';
import { reasonOf } from '@/parts/errorText';
import { explained } from '@/parts/searchResult';
import { api, ask, type Schemas } from '@/api/client';
import { KindMark } from '@/parts/KindMark';
import { NAV_PAGES } from './pages';
import { preferences } from './preferences';
import { plainLine } from '@/parts/snippet';
import classes from './Palette.module.css';

export type Action = { id: string; label: string; run: () => void };
type Entry = { id: string; group: string; icon: ReactNode; label: string; detail?: string; run: () => void };

const LEAST = 2; // letters before memory is searched

export function Palette({ actions, onClose }: { actions: readonly Action[]; onClose: () => void }) {
  const { t } = useTranslation('shell');
  const router = useRouter();
  const id = useId();
  const [query, setQuery] = useState('');
  const [at, setAt] = useState(0);
  const wanted = query.trim();
  const [asked] = useDebouncedValue(wanted, 150);
  const memories = useQuery({
    queryKey: ['palette', asked],
    queryFn: ({ signal }) => findMemories(asked, signal),
    enabled: asked.length >= LEAST,
    placeholderData: keepPreviousData,
    retry: false,
  });

  const entries = useMemo(() => {
    const fits = (label: string) => label.toLowerCase().includes(wanted.toLowerCase());
    const go = (to: string) => () => void router.navigate({ href: to });
    const pages: Entry[] = NAV_PAGES.map(({ name, to, icon: Icon }) => ({
      id: `page-${name}`,
      group: t('palette.pages'),
      icon: <Icon size={16} aria-hidden />,
      label: t(`nav.${name}`),
      run: go(to),
    }));
    const saved: Entry[] = preferences().views.map(({ name, to }) => ({
      id: `view-${to}`,
      group: t('palette.pages'),
      icon: <IconBookmark size={16} aria-hidden />,
      label: name,
      run: go(to),
    }));
    const acts: Entry[] = actions.map(({ id: name, label, run }) => ({
      id: `act-${name}`,
      group: t('palette.actions'),
      icon: <IconBolt size={16} aria-hidden />,
      label,
      run,
    }));
    const found: Entry[] = (wanted.length >= LEAST ? (memories.data?.rows ?? []) : []).flatMap((row) => {
      const page = pageOf(row.label);
      const entry = {
        id: `memory-${row.label}`,
        group: t('palette.memories'),
        icon: <KindMark kind={row.kind} bare />,
        label: plainLine(row.title || row.excerpt) || row.label,
        // Only what a person would type to come here again.
        detail: [row.uri ?? (row.label.startsWith('#') ? row.label : ''), row.project].filter(Boolean).join(' · '),
      };
      return page ? [{ ...entry, run: go(page) }] : [];
    });
    // A reference that was typed or pasted is itself the way to its page.
    const direct = pageOf(wanted);
    const icon = <IconSearch size={16} aria-hidden />;
    const jump: Entry[] = direct
      ? [{ id: 'jump', group: t('palette.memories'), icon, label: wanted, run: go(direct) }]
      : [];
    // All that the words find, and the reasons for it.
    const further: Entry[] = found.length
      ? [
          { to: `/ui/memories?${new URLSearchParams({ q: wanted })}`, name: 'all' as const },
          { to: explained(wanted), name: 'why' as const },
        ].map(({ to, name }) => ({
          id: `further-${name}`,
          group: t('palette.memories'),
          icon,
          label: t(`palette.${name}`, { query: wanted }),
          run: go(to),
        }))
      : [];
    const places = [...pages, ...saved].filter((each) => fits(each.label));
    return [...jump, ...places, ...found, ...further, ...acts.filter((each) => fits(each.label))];
  }, [wanted, memories.data, actions, router, t]);

  useEffect(() => setAt(0), [wanted]);
  const active = Math.min(at, entries.length - 1);
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
  }, [active]);

  function choose(entry: Entry | undefined) {
    if (!entry) return;
    onClose();
    entry.run();
  }

  function onKeyDown(event: KeyboardEvent) {
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'ArrowDown') setAt(Math.min(active + 1, entries.length - 1));
    else if (event.key === 'ArrowUp') setAt(Math.max(active - 1, 0));
    else if (event.key === 'Enter') choose(entries[active]);
    else return;
    event.preventDefault();
  }

  const searching = memories.isFetching && wanted.length >= LEAST;
  const note = memories.data?.notes[0];
  return (
    <Modal
      opened
      onClose={onClose}
      withCloseButton={false}
      title={null}
      size={640}
      centered={false}
      yOffset="12vh"
      padding={0}
      attributes={{ content: { 'aria-label': t('palette.title') } }}
    >
      <div className={classes['field']}>
        <IconSearch size={18} aria-hidden />
        <input
          data-autofocus
          className={classes['input']}
          role="combobox"
          aria-expanded={entries.length > 0}
          aria-controls={`${id}-list`}
          aria-activedescendant={entries[active] ? `${id}-${active}` : undefined}
          aria-label={t('searchHint')}
          aria-autocomplete="list"
          placeholder={t('searchHint')}
          autoComplete="off"
          spellCheck={false}
          value={query}
          onChange={(event) => setQuery(event.currentTarget.value)}
          onKeyDown={onKeyDown}
        />
        {searching && <Loader size={16} aria-label={t('palette.searching')} />}
      </div>
      <ul ref={list} id={`${id}-list`} role="listbox" aria-label={t('palette.title')} className={classes['list']}>
        {entries.map((entry, index) => (
          <li key={entry.id} role="presentation">
            {entry.group !== entries[index - 1]?.group && (
              <div className={classes['group']} role="presentation">
                {entry.group}
              </div>
            )}
            <div
              id={`${id}-${index}`}
              role="option"
              aria-selected={index === active}
              className={classes['entry']}
              onMouseMove={() => setAt(index)}
              onClick={() => choose(entry)}
            >
              {entry.icon}
              <span className="cut grow">{entry.label}</span>
              {entry.detail && <span className={`${classes['detail']} cut`}>{entry.detail}</span>}
            </div>
          </li>
        ))}
      </ul>
      <div role="status" className={classes['status']}>
        {memories.isError
          ? t('palette.failed', { reason: reasonOf(memories.error) })
          : !entries.length && !searching
            ? t('palette.nothing', { query: wanted })
            : note && wanted.length >= LEAST
              ? note
              : null}
      </div>
      <div className={classes['foot']} aria-hidden>
        <Kbd size="xs">↑</Kbd>
        <Kbd size="xs">↓</Kbd>
        <span>{t('palette.keys.move')}</span>
        <Kbd size="xs">↵</Kbd>
        <span>{t('palette.keys.open')}</span>
        <Kbd size="xs">esc</Kbd>
        <span>{t('palette.keys.close')}</span>
      </div>
    </Modal>
  );
}

type Found = { rows: Schemas['FoundMemory'][]; notes: string[] };

const SHOWN = 8;

async function findMemories(query: string, signal: AbortSignal): Promise<Found> {
  const told = await ask(api.GET('/api/search/all', { params: { query: { query, limit: SHOWN } }, signal }));
  const { results, notes } = told as Partial<Schemas['EverythingRows']>;
  return { rows: results ?? [], notes: notes ?? [] };
}

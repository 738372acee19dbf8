// What search stands on: the model of the vectors, where they lie, and a button that sends them to an outside index
// once more.
import { useTranslation } from 'react-i18next';
import { Button } from '@mantine/core';
import { IconUpload } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { localeTag } from '@/i18n';
import { Fact, Facts } from '@/parts/Facts';
import { CommandLine } from '@/parts/CommandLine';
import { Panel, type QueryLike } from '@/parts/Panel';
import { StatusMark } from '@/parts/StatusMark';
import { useNote } from '@/parts/searchNote';
import { ConfirmDialog } from '@/parts/ConfirmDialog';
import { notify, notifyError } from '@/parts/undoable';
import { reasonOf } from '@/parts/errorText';
import type { System } from '@/parts/WorkerFacts';
import { backfill, type Index } from './queries';
import classes from './System.module.css';

export function IndexPanel({ system }: { system: QueryLike<System> }) {
  const { t } = useTranslation('system');
  const chroma = system.data?.index.chroma;
  return (
    <Panel title={t('index.title')} state={system} actions={chroma?.configured && <BackfillButton />}>
      {({ index }: System) => <Standing {...index} />}
    </Panel>
  );
}

function Standing(index: Index) {
  const { t, i18n } = useTranslation('system');
  const note = useNote();
  const { model, dimension, waiting, complete, sqlite, chroma, formerModels } = index;
  const write = (count: number | null) => (count ?? 0).toLocaleString(localeTag(i18n.language));
  const silent = chroma.configured && chroma.reachable === false;
  const limited = index.notes.map(note);
  return (
    <Facts>
      <Fact name={t('index.finds')}>
        <StatusMark
          status={model && !silent && !limited.length ? 'ok' : 'degraded'}
          detail={model ? t('index.hybrid') : t('index.lexical')}
        />
        {!model && <p className={classes['why']}>{t('index.noEmbedder')}</p>}
        {!model && <CommandLine command="codexmem doctor" />}
        {model &&
          limited.map((each) => (
            <p key={each} className={classes['why']}>
              {each}
            </p>
          ))}
      </Fact>
      {model && (
        <Fact name={t('index.model')}>
          {dimension ? t('index.modelIs', { model, dimension }) : model}
          {formerModels.length > 0 && (
            <p className={classes['why']}>{t('index.former', { models: formerModels.join(', ') })}</p>
          )}
        </Fact>
      )}
      {model && (
        <Fact name={t('index.waiting')}>
          {complete && !waiting ? (
            <StatusMark status="done" detail={t('index.complete')} />
          ) : (
            <StatusMark
              status="running"
              detail={t('index.behind', { count: waiting, replace: { count: write(waiting) } })}
            />
          )}
        </Fact>
      )}
      <Fact name={t('index.own')}>
        {sqlite.used
          ? t('index.vectors', {
              count: sqlite.embeddings ?? 0,
              replace: { count: write(sqlite.embeddings), engine: sqlite.engine },
            })
          : t('index.ownOff', { engine: sqlite.engine })}
      </Fact>
      <Fact name="Chroma">
        {!chroma.configured ? (
          <StatusMark status="off" detail={t('index.noChroma')} />
        ) : silent ? (
          <>
            <StatusMark status="failed" detail={t('index.silent')} />
            {chroma.error && <p className={classes['why']}>{chroma.error}</p>}
          </>
        ) : (
          <StatusMark
            status="ok"
            {...(chroma.embeddings !== null
              ? { detail: t('index.holds', { count: chroma.embeddings, replace: { count: write(chroma.embeddings) } }) }
              : {})}
          />
        )}
      </Fact>
    </Facts>
  );
}

/** Sends all vectors to the index outside the store once more, a step at a time, and tells how far it is. */
function BackfillButton() {
  const { t, i18n } = useTranslation(['system', 'common']);
  const client = useQueryClient();
  const [asking, setAsking] = useState(false);
  const [sent, setSent] = useState<number | null>(null);
  const running = useRef<AbortController>(null);
  useEffect(() => () => running.current?.abort(), []);
  const write = (count: number) => count.toLocaleString(localeTag(i18n.language));

  async function run() {
    const stop = new AbortController();
    running.current = stop;
    setSent(0);
    try {
      const { sent: all, reason } = await backfill(setSent, stop.signal);
      if (reason !== null) notifyError(t('index.notSent', { reason }));
      else notify(t('index.sent', { count: all, replace: { count: write(all) } }));
    } catch (thrown) {
      if (!stop.signal.aborted) notifyError(t('index.sendFailed', { reason: reasonOf(thrown) }));
    } finally {
      running.current = null;
      setSent(null);
      void client.invalidateQueries({ queryKey: ['viewer', 'system'] });
    }
  }

  if (sent !== null) {
    return (
      <>
        <span role="status" className="muted size12">
          {t('index.sending', { count: sent, replace: { count: write(sent) } })}
        </span>
        <Button variant="default" onClick={() => running.current?.abort()}>
          {t('common:cancel')}
        </Button>
      </>
    );
  }
  return (
    <>
      <Button
        variant="default"
        leftSection={<IconUpload size={14} />}
        title={t('index.backfillHint')}
        onClick={() => setAsking(true)}
      >
        {t('index.backfill')}
      </Button>
      <ConfirmDialog
        opened={asking}
        onClose={() => setAsking(false)}
        title={t('index.backfillTitle')}
        impact={t('index.backfillImpact')}
        action={t('index.backfill')}
        danger={false}
        onConfirm={() => {
          void run();
          return Promise.resolve();
        }}
      />
    </>
  );
}

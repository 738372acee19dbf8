// Where a memory comes from: the session, run, prompt, events and jobs behind it, each leading to its page.
import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type notes from '@/i18n/en/notes';
import { Panel } from '@/parts/Panel';
import { PageLink, Ref } from '@/parts/Ref';
import { StatusMark } from '@/parts/StatusMark';
import { TimeText } from '@/parts/TimeText';
import type { Provenance } from './queries';
import { Relatives } from './Relatives';
import classes from './Provenance.module.css';

type Props = { told: Provenance; onExplain: (label: string) => void };
type Origin = keyof typeof notes.origins;

const SHOWN = 12; // events: the rest is on the session's page

export function ProvenanceOrigin({ told, onExplain }: Props) {
  const { t, i18n } = useTranslation('notes');
  const { memory, session, run, prompt } = told;
  const known = i18n.exists(`notes:origins.${memory.origin}`);
  const origin = known ? t(`origins.${memory.origin as Origin}`) : memory.origin;
  return (
    <Panel title={t('why.from')} flush>
      <dl className={classes['facts']}>
        <Fact name={t('why.origin')}>{origin}</Fact>
        <Fact name={t('meta.created')}>
          <TimeText at={memory.created_ms} exact />
        </Fact>
        <Fact name={t('meta.project')}>{memory.project || t('meta.everywhere')}</Fact>
        {session && (
          <Fact name={t('why.session')}>
            <SessionLine session={session} />
          </Fact>
        )}
        {run && (
          <Fact name={t('why.run')}>
            <PageLink to={`/ui/runs/${encodeURIComponent(run)}`}>{run}</PageLink>
          </Fact>
        )}
        {memory.source && <Fact name={t('meta.source')}>{memory.source}</Fact>}
        {memory.imported && <Fact name={t('why.imported')}>{memory.imported}</Fact>}
        {memory.confirmed > 0 && <Fact name={t('why.confirmed')}>{t('why.times', { count: memory.confirmed })}</Fact>}
        {memory.unproven.length > 0 && (
          <Fact name={t('why.unproven')}>
            <ul>
              {memory.unproven.map((claim) => (
                <li key={claim}>{claim}</li>
              ))}
            </ul>
          </Fact>
        )}
      </dl>
      {prompt && (
        <>
          <h3 className={classes['sub']}>{t('why.prompt')}</h3>
          <Relatives relatives={[prompt]} none="" onExplain={onExplain} />
        </>
      )}
      {told.events.length > 0 && <Events told={told} />}
      {told.jobs.length > 0 && <Jobs jobs={told.jobs} />}
      {!session && !run && !memory.source && !memory.imported && !told.events.length && (
        <Text size="sm" c="dimmed" p="md" pt={0}>
          {t('why.byHand')}
        </Text>
      )}
    </Panel>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

function SessionLine({ session }: { session: NonNullable<Provenance['session']> }) {
  const { t } = useTranslation('notes');
  const name = session.platform ? t('why.sessionOf', { platform: session.platform, key: session.key }) : session.key;
  return session.id === null ? <span>{name}</span> : <PageLink to={`/ui/sessions/${session.id}`}>{name}</PageLink>;
}

function Events({ told }: { told: Provenance }) {
  const { t } = useTranslation('notes');
  const number = told.session?.id ?? null;
  const rest = told.events.length - SHOWN;
  return (
    <>
      <h3 className={classes['sub']}>{t('why.events', { count: told.events.length })}</h3>
      <ul className={classes['items']}>
        {told.events.slice(0, SHOWN).map((event) => (
          <li key={event.seq} className={classes['item']}>
            <span className={classes['line']}>
              {number === null ? (
                <span>{event.tool || event.kind}</span>
              ) : (
                <PageLink to={`/ui/sessions/${number}?sel=e${event.seq}`}>{event.tool || event.kind}</PageLink>
              )}
              <span className={classes['muted']}>{t('why.turn', { turn: event.turn })}</span>
              {!event.kept && <span className={classes['muted']}>{t('why.faded')}</span>}
            </span>
            <span className={classes['end']}>
              <TimeText at={event.at_ms} />
            </span>
          </li>
        ))}
      </ul>
      {(rest > 0 || told.more_events) && (
        <Text size="xs" c="dimmed" p="sm">
          {t('why.moreEvents')}
        </Text>
      )}
    </>
  );
}

function Jobs({ jobs }: { jobs: Provenance['jobs'] }) {
  const { t } = useTranslation('notes');
  return (
    <>
      <h3 className={classes['sub']}>{t('why.jobs')}</h3>
      <ul className={classes['items']}>
        {jobs.map((job) => (
          <li key={job.id} className={classes['item']}>
            <span className={classes['line']}>
              <Ref reference={`job:${job.id}`} />
              {job.status && <StatusMark status={job.status} />}
              {!job.status && <span className={classes['muted']}>{t('why.pruned')}</span>}
              {job.by && <span className={classes['muted']}>{t('why.answeredBy', { by: job.by })}</span>}
              {job.error && <span className={classes['muted']}>{job.error}</span>}
            </span>
            {job.ended_ms !== null && (
              <span className={classes['end']}>
                <TimeText at={job.ended_ms} />
              </span>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}

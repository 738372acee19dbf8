// Where a memory comes from: the session, run, prompt, events and jobs behind it, each leading to its page.
import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { IconRoute } from '@tabler/icons-react';
import type { Kind, Origin as Writer } from '@/api/life';
import { IconAct } from '@/parts/IconAct';
import { Facts } from '@/parts/Facts';
import { useActorName, useOriginName } from '@/parts/acts/LifeMarks';
import { Panel } from '@/parts/Panel';
import { PageLink, Ref } from '@/parts/Ref';
import { StatusMark } from '@/parts/StatusMark';
import { TimeText } from '@/parts/TimeText';
import type memory from '@/i18n/en/memory';
import type { Provenance, Relative } from './queries';
import { plainLine } from '@/parts/snippet';
import classes from './Lineage.module.css';

type Props = { told: Provenance; onExplain: (label: string) => void };

const SHOWN = 12; // events: the rest is on the session's page

export function Origin({ told, onExplain }: Props) {
  const { t } = useTranslation('memory');
  const { memory, session, run, prompt } = told;
  const originName = useOriginName();
  return (
    <Panel title={t('why.from')} flush>
      <div className="padded">
        <Facts
          facts={[
            [t('fact.writtenBy'), originName(memory.origin as Writer)],
            [t('fact.created'), <TimeText key="created" at={memory.created_ms} exact />],
            [t('fact.project'), memory.project || t('fact.everywhere')],
            [t('fact.session'), session && <SessionLine session={session} />],
            [t('why.run'), run && <PageLink to={`/ui/runs/${encodeURIComponent(run)}`}>{run}</PageLink>],
            [t('fact.source'), memory.source],
            [t('fact.imported'), memory.imported],
            [
              t('why.unproven'),
              memory.unproven.length > 0 && (
                <ul>
                  {memory.unproven.map((claim) => (
                    <li key={claim}>{claim}</li>
                  ))}
                </ul>
              ),
            ],
          ]}
        />
      </div>
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

function SessionLine({ session }: { session: NonNullable<Provenance['session']> }) {
  const { t } = useTranslation('memory');
  const name = session.platform ? t('why.sessionOf', { platform: session.platform, key: session.key }) : session.key;
  return session.id === null ? <span>{name}</span> : <PageLink to={`/ui/sessions/${session.id}`}>{name}</PageLink>;
}

function Events({ told }: { told: Provenance }) {
  const { t } = useTranslation('memory');
  const number = told.session?.id ?? null;
  const rest = told.events.length - SHOWN;
  return (
    <>
      <h3 className={classes['sub']}>{t('why.events', { count: told.events.length })}</h3>
      <ul className="plain">
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
  const { t } = useTranslation('memory');
  const actorName = useActorName();
  return (
    <>
      <h3 className={classes['sub']}>{t('why.jobs')}</h3>
      <ul className="plain">
        {jobs.map((job) => (
          <li key={job.id} className={classes['item']}>
            <span className={classes['line']}>
              <Ref reference={`job:${job.id}`} />
              {job.status && <StatusMark status={job.status} />}
              {!job.status && <span className={classes['muted']}>{t('why.pruned')}</span>}
              {job.by && (
                <span className={classes['muted']}>{t('why.answeredBy', { by: job.model || actorName(job.by) })}</span>
              )}
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

type RelativesProps = { relatives: readonly Relative[]; none: string; onExplain: (label: string) => void };

/** Other memories that have to do with one: each a link, and each explained in place when asked. */
export function Relatives({ relatives, none, onExplain }: RelativesProps) {
  const { t, i18n } = useTranslation(['memory', 'timeline']);
  // People may name relations of their own.
  const relationName = (name: string) =>
    i18n.exists(`memory:relation.${name}`) ? t(`relation.${name as keyof typeof memory.relation}`) : name;
  if (!relatives.length) {
    return (
      <Text size="sm" c="dimmed" p="md">
        {none}
      </Text>
    );
  }
  return (
    <ul className="plain">
      {relatives.map((each) => (
        <li key={`${each.relation} ${each.label}`} className={classes['item']}>
          <div className={`${classes['relative']} column`}>
            <span className={classes['line']}>
              <Ref reference={each.label.replace(/^(?:note|qa) /, '')} copy={false} />
              <span className={classes['muted']}>
                {each.relation ? relationName(each.relation) : t(`timeline:kind.${each.kind as Kind}`)}
              </span>
              {each.status !== 'active' && <StatusMark status={each.status} />}
            </span>
            {each.title && <span className="muted cut">{plainLine(each.title)}</span>}
          </div>
          <IconAct
            label={t('why.explain', { reference: each.label })}
            icon={IconRoute}
            size={24}
            run={() => onExplain(each.label)}
          />
        </li>
      ))}
    </ul>
  );
}

// What needs care, in numbers: each is a queue, and leads to where it is worked on.
import { Skeleton, UnstyledButton } from '@mantine/core';
import { IconCircleCheck } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { inReview, waitingQuery } from '@/api/review';
import { localeTag } from '@/i18n';
import { CommandLine } from '@/parts/CommandLine';
import { Panel } from '@/parts/Panel';
import { TextLink } from '@/parts/TextLink';
import { healthQuery, type Health as Found } from './learnedQueries';
import classes from './Learned.module.css';

const FIRST = ['proposed', 'candidate', 'contradiction', 'duplicate'] as const;
const OF_FILES = ['changed', 'gone'] as const;
const LAST = ['unused', 'never_told'] as const;
type Name = (typeof FIRST)[number] | (typeof OF_FILES)[number] | (typeof LAST)[number];
type Count = Found['proposed'];

export function Health({ project }: { project: string }) {
  const { t } = useTranslation('learned');
  const health = useQuery(healthQuery(project));
  return (
    <Panel title={t('health.title')} state={health} skeleton={<Skeleton h={330} />}>
      {(found: Found) => <Queues found={found} project={project} />}
    </Panel>
  );
}

function Queues({ found, project }: { found: Found; project: string }) {
  const { t } = useTranslation('learned');
  const { files, proposed, candidate, contradiction, duplicate } = found;
  const all = useQuery(waitingQuery).data;
  // Notes for every project are told here too, but belong to none.
  const waiting = all ? inReview(all) + all.qa_candidates : 0;
  const elsewhere = waiting - proposed.count - candidate.count - contradiction.count - duplicate.count;
  const queues: [Name, Count][] = [
    ...FIRST.map((name): [Name, Count] => [name, found[name]]),
    ...(files ? OF_FILES.map((name): [Name, Count] => [name, files[name]]) : []),
    ...LAST.map((name): [Name, Count] => [name, found[name]]),
  ];
  // What was never told is no fault by itself.
  const healthy = queues.every(([name, { count }]) => !count || name === 'never_told');
  return (
    <div className="column gap8">
      {healthy && (
        <p className={classes['healthy']}>
          <IconCircleCheck size={16} aria-hidden /> {t('health.healthy')}
        </p>
      )}
      <ul className={classes['queues']}>
        {queues.map(([name, count]) => (
          <li key={name}>
            <Queue name={name} count={count} project={project} />
          </li>
        ))}
      </ul>
      {elsewhere > 0 && (
        <p className={classes['hint']}>
          <TextLink to="/ui/review">{t('health.elsewhere', { count: elsewhere })}</TextLink>
        </p>
      )}
      {!files && (
        <div className={classes['hint']}>
          <p>{t('health.filesUnknown')}</p>
          <CommandLine command="codexmem stale" />
        </div>
      )}
    </div>
  );
}

function Queue({ name, count, project }: { name: Name; count: Count; project: string }) {
  const { t, i18n } = useTranslation('learned');
  const [path = '', query = ''] = count.page.split('?');
  const search = { ...Object.fromEntries(new URLSearchParams(query)), project };
  const written = count.count.toLocaleString(localeTag(i18n.language));
  return (
    <UnstyledButton
      className={classes['queue'] ?? ''}
      data-none={!count.count || undefined}
      renderRoot={(props) => <Link {...props} to={path} search={search as never} />}
    >
      <span className={classes['value']}>
        {count.more ? t('atLeast', { count: count.count, replace: { count: written } }) : written}
      </span>
      <span className="size13">{t(`health.${name}`)}</span>
      <span className={classes['hint']}>{t(`health.${name}Why`)}</span>
    </UnstyledButton>
  );
}

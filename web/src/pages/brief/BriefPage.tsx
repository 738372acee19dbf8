// The home page of a project: what its agents will be told next, and what can be done about it.
import { Select, Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Navigate, useNavigate, useParams } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { activityTexts } from '@/i18n';
import { prefer, preferences } from '@/app/preferences';
import { Page } from '@/parts/Page';
import { Empty, Panel } from '@/parts/Panel';
import classes from './Brief.module.css';
import { Cost } from './Cost';
import { Health } from './Health';
import { Learned } from './Learned';
import { NextContext } from './NextContext';
import { countQuery, projectsQuery } from './queries';

const FirstVisit = lazy(async () => {
  const [module] = await Promise.all([import('../viewer/FirstVisit'), activityTexts()]);
  return { default: module.FirstVisit };
});

export function BriefPage() {
  const { t } = useTranslation('next');
  const { project = '' } = useParams({ strict: false });
  const listed = useQuery(projectsQuery).data?.includes(project) ?? true;
  const counted = useQuery({ ...countQuery(project), enabled: !listed });
  const known = listed || counted.data?.count !== 0;
  useEffect(() => {
    if (known) prefer({ project });
  }, [known, project]);
  if (!listed && counted.isPending) return <Skeleton h={240} />;
  if (!known) return <UnknownProject project={project} />;
  return (
    <Page title={t('title', { project })} description={t('description')} actions={<ProjectChoice project={project} />}>
      <div className={classes['columns']}>
        <NextContext key={project} project={project} />
        <div className={classes['side']}>
          <Health project={project} />
          <Learned project={project} />
          <Cost project={project} />
        </div>
      </div>
    </Page>
  );
}

/** No memory of any kind is of a project with this name. */
function UnknownProject({ project }: { project: string }) {
  const { t } = useTranslation('next');
  return (
    <Page title={t('unknown.title')} actions={<ProjectChoice project="" />}>
      <Panel label={t('unknown.title')}>
        <Empty title={project} why={t('unknown.why')} />
      </Panel>
    </Page>
  );
}

function ProjectChoice({ project }: { project: string }) {
  const { t } = useTranslation(['next', 'timeline']);
  const navigate = useNavigate();
  const known = useQuery(projectsQuery).data ?? [];
  return (
    <Select
      aria-label={t('timeline:filters.project')}
      data={[...new Set([...known, project])].filter(Boolean)}
      value={project || null}
      placeholder={t('timeline:filters.project')}
      onChange={(chosen) => chosen && void navigate({ to: '/ui/p/$project', params: { project: chosen } })}
      allowDeselect={false}
      searchable
      limit={200}
      comboboxProps={{ keepMounted: false }}
      nothingFoundMessage={t('timeline:filters.noProjects')}
      w={220}
      maw="100%"
    />
  );
}

/** Leads to the project that was looked at last, else to the first one; without any memory it shows the first steps. */
export function Home() {
  const { t } = useTranslation('shell');
  const navigate = useNavigate();
  const [first, setFirst] = useState(false);
  const known = useQuery(projectsQuery);
  if (known.isPending) return <Skeleton h={240} />;
  const names = known.data?.filter(Boolean) ?? [];
  const last = preferences().project;
  const project = names.includes(last) ? last : names[0];
  if (project !== undefined && !first) return <Navigate to="/ui/p/$project" params={{ project }} replace />;
  if (!first) setFirst(true);
  return (
    <Page title={t('welcome.title')} description={t('welcome.why')}>
      <Suspense fallback={<Skeleton h={480} />}>
        <FirstVisit
          onDone={() =>
            void known.refetch().then(() => (project === undefined ? navigate({ to: '/viewer' }) : setFirst(false)))
          }
        />
      </Suspense>
    </Page>
  );
}

// The state of the server: what works, who writes, what it costs, and how all of it is kept safe.
import { useTranslation } from 'react-i18next';
import { Page } from '@/parts/Page';
import { AboutPanel } from './AboutPanel';
import { AgentsPanel } from './AgentsPanel';
import { BackupsPanel } from './BackupsPanel';
import { IndexPanel } from './IndexPanel';
import { ModelPanel } from './ModelPanel';
import { useSystem } from './queries';
import { WorkPanel } from './WorkPanel';
import classes from './System.module.css';

export function SystemPage() {
  const { t } = useTranslation('system');
  const system = useSystem();
  return (
    <Page title={t('title')} description={t('description')}>
      <div className={classes['columns']}>
        <div className={classes['column']}>
          <AgentsPanel system={system} />
          <BackupsPanel />
        </div>
        <div className={classes['column']}>
          <WorkPanel system={system} />
          <ModelPanel system={system} />
          <IndexPanel system={system} />
          <AboutPanel system={system} />
        </div>
      </div>
    </Page>
  );
}

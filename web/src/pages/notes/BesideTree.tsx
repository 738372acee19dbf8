// The tree of addresses beside what stands at one of them; a narrow screen has a link to it instead.
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Panel } from '@/parts/Panel';
import { AddressTree } from './AddressTree';
import classes from './Note.module.css';

export function BesideTree({ uri, children }: { uri: string; children: ReactNode }) {
  const { t } = useTranslation('notes');
  const all = (
    <Link to="/ui/memories" className={classes['all']}>
      {t('tree.all')}
    </Link>
  );
  return (
    <div className={classes['columns']}>
      <aside className={classes['aside']} aria-label={t('tree.title')}>
        <Panel title={t('tree.title')} actions={all} flush>
          <AddressTree current={uri} />
        </Panel>
      </aside>
      <div className={classes['narrow']}>{all}</div>
      <div className={classes['main']}>{children}</div>
    </div>
  );
}

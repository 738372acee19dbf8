// Lessons, jobs and deltas; how many learnings are under way stands beside the jobs.
import { useTranslation } from 'react-i18next';
import { AreaNav } from '@/parts/AreaNav';
import { useLearningsUnderWay } from './queries';

export function BankNav() {
  const { t } = useTranslation('bank');
  const { data: n = 0 } = useLearningsUnderWay();
  return (
    <AreaNav
      label={t('nav.label')}
      pages={[
        { to: '/ui/rb', name: t('nav.lessons') },
        { to: '/ui/rb/jobs', name: t('nav.jobs'), badge: n ? t('nav.underWay', { n }) : undefined },
        { to: '/ui/rb/deltas', name: t('nav.deltas') },
      ]}
    />
  );
}

// One failure: the whole message, where it belongs, and what can be done.
import { useTranslation } from 'react-i18next';
import { CopyButton } from '@/parts/CopyButton';
import { Panel } from '@/parts/Panel';
import { PageLink } from '@/parts/Ref';
import { TextBlock } from '@/parts/TextBlock';
import { TimeText } from '@/parts/TimeText';
import type { Failure } from './queries';
import { RetryButton } from './RetryButton';
import classes from './Viewer.module.css';

export function FailureDetail({ failure }: { failure: Failure }) {
  const { t, i18n } = useTranslation(['viewer', 'common']);
  const { error, errorClass, kind, jobId, sessionDbId, attempts, atEpoch } = failure;
  const said = i18n.exists(`viewer:failures.class.${errorClass}`)
    ? t(`failures.class.${errorClass as 'timeout'}`)
    : null;
  return (
    <Panel title={t('failures.detail')} actions={sessionDbId !== null ? <RetryButton session={sessionDbId} /> : null}>
      <dl className={classes['facts']}>
        <dt>{t('failures.className')}</dt>
        <dd>
          <code>{errorClass}</code> {said}
        </dd>
        <dt>{t('failures.kind')}</dt>
        <dd>
          <code>{kind}</code>
        </dd>
        <dt>{t('failures.when')}</dt>
        <dd>
          <TimeText at={atEpoch} exact />
        </dd>
        <dt>{t('failures.tried')}</dt>
        <dd>{t('failures.attempts', { count: attempts })}</dd>
        {sessionDbId !== null && (
          <>
            <dt>{t('failures.ofSession')}</dt>
            <dd>
              <PageLink to={`/ui/sessions/${sessionDbId}`}>{t('timings.session', { id: sessionDbId })}</PageLink>
            </dd>
          </>
        )}
        {jobId !== null && (
          <>
            <dt>{t('common:id')}</dt>
            <dd>
              {t('failures.job', { id: jobId })} <CopyButton value={String(jobId)} label={t('common:id')} />
            </dd>
          </>
        )}
      </dl>
      <TextBlock text={error} copy mono />
    </Panel>
  );
}

// One backup: when and why it was made, how much it holds, whether it is whole, and what can be done with it.
import { Button } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { localeTag } from '@/i18n';
import { CopyButton } from '@/parts/CopyButton';
import { StatusMark } from '@/parts/StatusMark';
import { TimeText } from '@/parts/TimeText';
import { notify, notifyError } from '@/parts/undoable';
import { reasonOf } from '@/parts/errorText';
import { bytesText } from './amounts';
import { useVerify, type Backup } from './queries';
import classes from './System.module.css';

export function BackupRow({ backup, onRestore }: { backup: Backup; onRestore: () => void }) {
  const { t, i18n } = useTranslation('system');
  const verify = useVerify();
  const { name, atEpoch, memories, sizeBytes, cause, problem } = backup;

  function check() {
    // Told also to who has left the page meanwhile, as callbacks of `mutate` would not be.
    void verify.mutateAsync(name).then(
      ({ verified }) => {
        if (verified.ok) notify(t('backups.isWhole', { name }));
        else notifyError(t('backups.isBroken', { name, reason: verified.problem ?? '' }));
      },
      (thrown: unknown) => notifyError(t('backups.notChecked', { reason: reasonOf(thrown) })),
    );
  }

  return (
    <tr>
      <th scope="row" className={classes['backup']}>
        <span>
          {atEpoch === null ? t('backups.unknownTime') : <TimeText at={atEpoch} />}
          <span className={classes['cause']}>{t(`backups.causes.${cause}`)}</span>
        </span>
        <span className={classes['copied']}>
          <code className={classes['path']}>{name}</code>
          <CopyButton value={name} label={t('backups.name')} />
        </span>
      </th>
      <td className={classes['number']}>
        {memories === null ? '–' : memories.toLocaleString(localeTag(i18n.language))}
      </td>
      <td className={classes['number']}>{sizeBytes === null ? '–' : bytesText(sizeBytes, i18n.language)}</td>
      <td>{problem ? <Unreadable problem={problem} /> : <Checked {...backup} checking={verify.isPending} />}</td>
      <td>
        <span className={classes['acts']}>
          <Button
            variant="default"
            size="compact-sm"
            onClick={check}
            loading={verify.isPending}
            aria-label={t('backups.verifyOne', { name })}
          >
            {t('backups.verify')}
          </Button>
          <Button
            variant="default"
            size="compact-sm"
            onClick={onRestore}
            disabled={problem !== null}
            aria-label={t('backups.restoreOne', { name })}
          >
            {t('backups.restore')}
          </Button>
        </span>
      </td>
    </tr>
  );
}

function Unreadable({ problem }: { problem: string }) {
  const { t } = useTranslation('system');
  return (
    <>
      <StatusMark status="failed" detail={t('backups.unreadable')} />
      <p className={classes['why']}>{problem}</p>
    </>
  );
}

function Checked({ verified, checking }: Backup & { checking: boolean }) {
  const { t } = useTranslation('system');
  if (checking) return <StatusMark status="running" detail={t('backups.checking')} />;
  if (!verified) return <span className={classes['hint']}>{t('backups.unchecked')}</span>;
  return (
    <>
      <StatusMark
        status={verified.ok ? 'ok' : 'failed'}
        detail={verified.ok ? t('backups.whole') : t('backups.broken')}
      />
      <p className={classes['why']}>{verified.problem ? verified.problem : <TimeText at={verified.atEpoch} />}</p>
    </>
  );
}

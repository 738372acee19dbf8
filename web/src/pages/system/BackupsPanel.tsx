// Backups of the store: those there are, one more at a click, whether each is whole, and how one is put back.
import '@mantine/core/styles/Progress.layer.css';
import { Button, Modal, Progress, Text } from '@mantine/core';
import { IconDatabaseExport } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { localeTag } from '@/i18n';
import { CommandLine } from '@/parts/CommandLine';
import { Panel } from '@/parts/Panel';
import { notify, notifyError } from '@/parts/undoable';
import { reasonOf } from '@/parts/errorText';
import { Copied } from '@/parts/CopyButton';
import { StatusMark } from '@/parts/StatusMark';
import { TimeText } from '@/parts/TimeText';
import { type Backup, type Backups, type Making, useBackups, useMakeBackup, useVerify } from './queries';
import { bytesText } from '@/parts/amounts';
import classes from './System.module.css';

export function BackupsPanel() {
  const { t } = useTranslation('system');
  const backups = useBackups();
  const make = useMakeBackup();
  const [restoring, setRestoring] = useState<Backup | null>(null);
  const running = backups.data?.running?.status === 'running';

  function run() {
    // Told also to who has left the page meanwhile, as callbacks of `mutate` would not be.
    void make.mutateAsync().then(
      (made) => {
        if ('backup' in made) notify(t('backups.made', { name: made.backup.name }));
      },
      (thrown: unknown) => notifyError(t('backups.failed', { reason: reasonOf(thrown) })),
    );
  }

  return (
    <Panel
      title={t('backups.title')}
      state={backups}
      isEmpty={({ available, backups: listed, running: making }: Backups) => available && !listed.length && !making}
      empty={{ title: t('backups.none'), why: t('backups.noneWhy'), command: backups.data?.command ?? '' }}
      degraded={backups.data?.truncated ? t('backups.truncated') : null}
      flush
      actions={
        backups.data?.available && (
          <Button leftSection={<IconDatabaseExport size={14} />} loading={make.isPending || running} onClick={run}>
            {t('backups.make')}
          </Button>
        )
      }
    >
      {(data: Backups) =>
        data.available ? (
          <>
            {data.running && <OnItsWay {...data.running} />}
            {data.backups.length > 0 && <Table backups={data.backups} onRestore={setRestoring} />}
            <RestoreDialog backup={restoring} onClose={() => setRestoring(null)} />
          </>
        ) : (
          <div className={`${classes['elsewhere']} size13 padded`}>
            <p>{t('backups.elsewhere')}</p>
            <CommandLine command={data.command} />
          </div>
        )
      }
    </Panel>
  );
}

function Table({ backups, onRestore }: { backups: readonly Backup[]; onRestore: (backup: Backup) => void }) {
  const { t } = useTranslation('system');
  return (
    <div className="scrollsX" tabIndex={0} role="group" aria-label={t('backups.title')}>
      <table className={classes['table']}>
        <thead>
          <tr>
            <th scope="col">{t('backups.when')}</th>
            <th scope="col" className={`${classes['number']} ${classes['few']}`}>
              {t('backups.memories')}
            </th>
            <th scope="col" className={`${classes['number']} ${classes['few']}`}>
              {t('backups.size')}
            </th>
            <th scope="col">{t('backups.state')}</th>
            <td />
          </tr>
        </thead>
        <tbody>
          {backups.map((backup) => (
            <BackupRow key={backup.name} backup={backup} onRestore={() => onRestore(backup)} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function OnItsWay({ name, done, total, status, error, hint }: Making) {
  const { t, i18n } = useTranslation('system');
  if (status === 'failed') {
    return (
      <p role="alert" className={classes['broken']}>
        {t('backups.lastFailed', { name, reason: error ?? '', hint: hint ?? '' })}
      </p>
    );
  }
  const share = total ? done / total : 0;
  const percent = share.toLocaleString(localeTag(i18n.language), { style: 'percent' });
  return (
    <div className={classes['making']}>
      <span role="status">{t('backups.making', { name, share: percent })}</span>
      <Progress value={share * 100} animated aria-label={t('backups.progress')} />
    </div>
  );
}

/** One backup: when and why it was made, how much it holds, whether it is whole, and what can be done with it. */
function BackupRow({ backup, onRestore }: { backup: Backup; onRestore: () => void }) {
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
          <span className="muted light">{t(`backups.causes.${cause}`)}</span>
        </span>
        <span className={classes['few']}>
          <Copied value={name} label={t('backups.name')} />
        </span>
      </th>
      <td className={`${classes['number']} ${classes['few']}`}>
        {memories === null ? '–' : memories.toLocaleString(localeTag(i18n.language))}
      </td>
      <td className={`${classes['number']} ${classes['few']}`}>
        {sizeBytes === null ? '–' : bytesText(sizeBytes, i18n.language)}
      </td>
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
  if (!verified) return <span className="muted size12">{t('backups.unchecked')}</span>;
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

/** How a backup is put back: three commands for a terminal, because the server must not run meanwhile. */
function RestoreDialog({ backup, onClose }: { backup: Backup | null; onClose: () => void }) {
  const { t } = useTranslation(['system', 'common']);
  return (
    <Modal
      opened={backup !== null}
      onClose={onClose}
      title={t('restore.title')}
      size="xl"
      closeButtonProps={{ 'aria-label': t('common:close') }}
    >
      {backup && (
        <>
          <Text size="sm" mb="lg">
            {t('restore.impact', { name: backup.name, count: backup.memories ?? 0 })}
          </Text>
          <ol className={classes['steps']}>
            <li>
              {t('restore.check')}
              <CommandLine command={backup.restore.check} />
            </li>
            <li>
              {t('restore.stop')}
              <CommandLine command={backup.restore.command} />
            </li>
            <li>
              {t('restore.start')}
              <CommandLine command={backup.restore.start} />
            </li>
          </ol>
          <Text size="sm" c="dimmed" mt="lg">
            {t('restore.safe')}
          </Text>
        </>
      )}
    </Modal>
  );
}

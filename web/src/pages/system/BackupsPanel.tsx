// Backups of the store: those there are, one more at a click, whether each is whole, and how one is put back.
import { Button, Progress } from '@mantine/core';
import { IconDatabaseExport } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { localeTag } from '@/i18n';
import { CommandLine } from '@/parts/CommandLine';
import { Panel } from '@/parts/Panel';
import { notify, notifyError } from '@/parts/undoable';
import { reasonOf } from '@/parts/errorText';
import { BackupRow } from './BackupRow';
import { useBackups, useMakeBackup, type Backup, type Backups, type Making } from './queries';
import { RestoreDialog } from './RestoreDialog';
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
          <div className={classes['elsewhere']}>
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
    <div className={classes['scroll']} tabIndex={0} role="group" aria-label={t('backups.title')}>
      <table className={classes['table']}>
        <thead>
          <tr>
            <th scope="col">{t('backups.when')}</th>
            <th scope="col" className={classes['number']}>
              {t('backups.memories')}
            </th>
            <th scope="col" className={classes['number']}>
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

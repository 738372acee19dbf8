// What runs here and where it keeps its things.
import { useTranslation } from 'react-i18next';
import { CopyButton } from '@/parts/CopyButton';
import { Panel, type QueryLike } from '@/parts/Panel';
import { StatusMark } from '@/parts/StatusMark';
import { bytesText, spanText } from './amounts';
import { Fact, Facts } from './Facts';
import type { System } from './queries';
import classes from './System.module.css';

const ENGINES = { sqlite: 'SQLite', postgresql: 'PostgreSQL' } as const;

export function AboutPanel({ system }: { system: QueryLike<System> }) {
  const { t } = useTranslation('system');
  return (
    <Panel title={t('about.title')} state={system}>
      {(data: System) => (
        <Facts>
          <Running {...data} />
          <Place data={data.data} />
        </Facts>
      )}
    </Panel>
  );
}

function Running({ phase, uptimeSec, pid, version, python, engine, live }: System) {
  const { t, i18n } = useTranslation('system');
  const span = spanText(uptimeSec, i18n.language);
  return (
    <>
      <Fact name={t('about.server')}>
        <StatusMark status={phase === 'ready' ? 'ok' : phase} detail={t('about.uptime', { span, pid })} />
      </Fact>
      <Fact name={t('about.version')}>
        <span className={classes['copied']}>
          {t('about.versions', { version, python })}
          <CopyButton
            value={`codexmem ${version}, Python ${python}, ${engine.name} ${engine.version}, schema ${engine.schema}`}
            label={t('about.versionsToCopy')}
          />
        </span>
      </Fact>
      <Fact name={t('about.engine')}>
        {t('about.engineIs', { name: ENGINES[engine.name], version: engine.version, schema: engine.schema })}
      </Fact>
      <Fact name={t('about.live')}>
        <span title={t('about.liveHint')}>{t('about.liveIs', { count: live.clients })}</span>
      </Fact>
    </>
  );
}

function Place({ data }: { data: System['data'] }) {
  const { t, i18n } = useTranslation('system');
  if (!data) return <Fact name={t('about.data')}>{t('about.shared')}</Fact>;
  const total = bytesText(data.totalBytes, i18n.language);
  return (
    <>
      <Fact name={t('about.data')}>
        {data.directory ? (
          <span className={classes['copied']}>
            <code className={classes['path']}>{data.directory}</code>
            <CopyButton value={data.directory} label={t('about.path')} />
          </span>
        ) : (
          t('about.hidden')
        )}
      </Fact>
      <Fact name={t('about.size')}>
        {data.truncated ? t('work.atLeast', { count: total }) : total}
        <p className={classes['why']}>
          {t('about.parts', {
            database: bytesText(data.databaseBytes ?? 0, i18n.language),
            backups: bytesText(data.backupsBytes, i18n.language),
          })}
        </p>
      </Fact>
    </>
  );
}

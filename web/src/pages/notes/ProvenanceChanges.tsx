// Who changed a memory, when and why; and the groups of writes it belongs to, each of which can be taken back.
import { Badge, Button, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Panel } from '@/parts/Panel';
import { PageLink, Ref } from '@/parts/Ref';
import { memoryPage } from '@/parts/reference';
import { TimeText } from '@/parts/TimeText';
import { useFieldName } from './FieldChanges';
import type { Provenance } from './queries';
import { TakeBackDialog } from './TakeBackDialog';
import { useOpName } from './useOpName';
import classes from './Provenance.module.css';

export function ProvenanceChanges({ told }: { told: Provenance }) {
  const { t } = useTranslation('notes');
  const [delta, setDelta] = useState<string | null>(null);
  return (
    <Panel title={t('why.changes')} flush>
      {told.versions.length === 0 && (
        <Text size="sm" c="dimmed" p="md">
          {t('why.neverChanged')}
        </Text>
      )}
      <ul className={classes['items']}>
        {told.versions.map((each) => (
          <li key={each.version} className={classes['item']}>
            <VersionOf told={told} version={each} />
          </li>
        ))}
      </ul>
      {told.more_versions && (
        <Text size="xs" c="dimmed" p="sm">
          {t('why.moreVersions')}
        </Text>
      )}
      {told.deltas.length > 0 && (
        <>
          <h3 className={classes['sub']}>{t('why.deltas')}</h3>
          <ul className={classes['items']}>
            {told.deltas.map((each) => (
              <li key={each.id} className={classes['item']}>
                <div className={classes['relative']}>
                  <span className={classes['line']}>
                    <Ref reference={each.id} />
                    {each.status === 'reverted' && <Badge color="slate">{t('why.reverted')}</Badge>}
                  </span>
                  <span className={classes['title']}>
                    {t('why.deltaTold', { cause: each.cause, subject: each.subject, who: each.actor })}
                  </span>
                </div>
                {each.status !== 'reverted' && (
                  <Button variant="default" size="compact-xs" onClick={() => setDelta(each.id)}>
                    {t('takeBack.open')}
                  </Button>
                )}
              </li>
            ))}
          </ul>
        </>
      )}
      <TakeBackDialog delta={delta} onClose={() => setDelta(null)} />
    </Panel>
  );
}

function VersionOf({ told, version: each }: { told: Provenance; version: Provenance['versions'][number] }) {
  const { t } = useTranslation('notes');
  const fieldName = useFieldName();
  const opName = useOpName();
  const [uri] = told.memory.kind === 'note' ? told.memory.uris : [];
  const page = uri ? memoryPage(uri) : null;
  const name = t('version', { version: each.version });
  const shown = each.version > 1 ? `diff=${each.version - 1}..${each.version}` : '';
  return (
    <>
      <div className={classes['relative']}>
        <span className={classes['line']}>
          {page ? <PageLink to={`${page}?tab=versions&${shown}`}>{name}</PageLink> : <span>{name}</span>}
          <span>{opName(each.op)}</span>
          {each.changed.length > 0 && (
            <span className={classes['muted']}>{each.changed.map(fieldName).join(t('versions.comma'))}</span>
          )}
        </span>
        <span className={classes['title']}>
          {each.note ? t('why.byNote', { who: each.actor, note: each.note }) : t('by', { who: each.actor })}
        </span>
      </div>
      <span className={classes['end']}>
        <TimeText at={each.created_ms} />
      </span>
    </>
  );
}

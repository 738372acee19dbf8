// What a run was shown of the library: every piece with its alias, and the text of the chosen one.
import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { usePages } from '@/api/queries';
import { ListPanel } from '@/parts/ListPanel';
import { Panel } from '@/parts/Panel';
import { useTyped } from '@/parts/useTyped';
import { SplitView } from '@/parts/SplitView';
import { PieceView } from './SourceDrawer';
import { type Evidence, usePiece } from '@/api/lab';
import type { RunState, SetRunState } from './runState';
import classes from './Piece.module.css';

type Props = { list: ReturnType<typeof usePages<Evidence>>; runId: string; state: RunState; set: SetRunState };

export function EvidenceTab({ list, runId, state, set }: Props) {
  const { t } = useTranslation('lab');
  const [alias, choose] = useTyped(state.alias, (next) => set({ alias: next }, { replace: true }));
  return (
    <SplitView
      chosen={alias !== ''}
      onBack={() => choose('')}
      left={
        <ListPanel
          list={list}
          title={t('evidence.title')}
          empty={{ title: t('evidence.none'), why: t('evidence.noneWhy'), command: 'codexmem lab kb ls' }}
          keyOf={(piece) => piece.alias}
          label={t('evidence.title')}
          selectedKey={alias || null}
          onSelect={(piece) => choose(piece.alias)}
          rowHeight={40}
          render={(piece) => (
            <div className="row grow gap12">
              <span className={classes['alias']}>{piece.alias}</span>
              <span className="cut grow">{piece.source}</span>
              <span className="muted size12 fixed">{piece.kb_namespace}</span>
            </div>
          )}
          most="60vh"
        />
      }
      right={
        alias && !alias.startsWith('mem:') ? (
          <Piece runId={runId} alias={alias} />
        ) : (
          <Hint text={t('evidence.choose')} />
        )
      }
    />
  );
}

function Piece({ runId, alias }: { runId: string; alias: string }) {
  const piece = usePiece(runId, alias);
  return (
    <Panel title={alias} state={piece}>
      {(found) => <PieceView piece={found} />}
    </Panel>
  );
}

export function Hint({ text, more }: { text: string; more?: string }) {
  return (
    <Panel label={text}>
      <Text size="sm" c="dimmed">
        {text}
      </Text>
      {more && (
        <Text size="xs" c="dimmed">
          {more}
        </Text>
      )}
    </Panel>
  );
}

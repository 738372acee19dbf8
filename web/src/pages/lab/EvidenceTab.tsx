// What a run was shown of the library: every piece with its alias, and the text of the chosen one.
import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { usePages } from '@/api/queries';
import { Panel } from '@/parts/Panel';
import { SplitView } from '@/parts/SplitView';
import { VirtualRows } from '@/parts/VirtualRows';
import { PieceView } from './PieceView';
import { usePiece, type Evidence } from '@/api/lab';
import type { RunState, SetRunState } from './runState';
import { useChosen } from './useChosen';
import classes from './Piece.module.css';

type Props = { list: ReturnType<typeof usePages<Evidence>>; runId: string; state: RunState; set: SetRunState };

export function EvidenceTab({ list, runId, state, set }: Props) {
  const { t } = useTranslation('lab');
  const [alias, choose] = useChosen(state.alias, (next) => set({ alias: next }, { replace: true }));
  return (
    <SplitView
      chosen={alias !== ''}
      onBack={() => choose('')}
      left={
        <Panel
          title={t('evidence.title')}
          flush
          state={list.query}
          isEmpty={() => !list.rows.length}
          empty={{ title: t('evidence.none'), why: t('evidence.noneWhy'), command: 'codexmem lab kb ls' }}
        >
          <VirtualRows
            rows={list.rows}
            keyOf={(piece) => piece.alias}
            label={t('evidence.title')}
            selectedKey={alias || null}
            onSelect={(piece) => choose(piece.alias)}
            onEndReached={list.more}
            loadingMore={list.loadingMore}
            height={`min(60vh, ${list.rows.length * 40 - 1}px)`}
            rowHeight={40}
            render={(piece) => (
              <div className={classes['row']}>
                <span className={classes['alias']}>{piece.alias}</span>
                <span className={classes['source']}>{piece.source}</span>
                <span className={classes['space']}>{piece.kb_namespace}</span>
              </div>
            )}
          />
        </Panel>
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

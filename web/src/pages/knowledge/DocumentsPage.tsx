// The documents that runs of the lab read: their libraries, what each holds, and passages that fit a question.
import { Select } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { usePages, type PageOf } from '@/api/queries';
import { ListPanel } from '@/parts/ListPanel';
import { text, useSearchState } from '@/app/searchState';
import { localeTag } from '@/i18n';
import { CopyButton } from '@/parts/CopyButton';
import { Panel } from '@/parts/Panel';
import { SplitView } from '@/parts/SplitView';
import { TextBlock } from '@/parts/TextBlock';
import { TimeText } from '@/parts/TimeText';
import { KnowledgeFrame } from './KnowledgeFrame';
import classes from './Knowledge.module.css';
import { documentPage, passagePage, useLibraries, usePassage, type LibraryDocument, type Passage } from './queries';

const SCHEMA = { library: text(), q: text(), piece: text() };
const ROW = 56;
const TRY = 'codexmem lab kb add --sample';

export function DocumentsPage() {
  const { t, i18n } = useTranslation('knowledge');
  const [{ library, q, piece }, set] = useSearchState(SCHEMA);
  const libraries = useLibraries();
  const named = library || libraries.data?.[0]?.kb_namespace || '';
  const number = (value: number) => value.toLocaleString(localeTag(i18n.language));
  return (
    <KnowledgeFrame
      q={q}
      onSearch={(words) => set({ q: words, piece: '' }, { replace: true })}
      beside={
        named && (
          <Select
            aria-label={t('documents.library')}
            w={300}
            miw={0}
            allowDeselect={false}
            value={named}
            onChange={(chosen) => set({ library: chosen ?? '', piece: '' })}
            data={(libraries.data ?? []).map((each) => ({
              value: each.kb_namespace,
              label: t('documents.holds', {
                name: each.kb_namespace,
                documents: t('documents.documents', { count: each.documents, n: number(each.documents) }),
                pieces: t('documents.pieces', { count: each.pieces, n: number(each.pieces) }),
              }),
            }))}
          />
        )
      }
    >
      {libraries.data?.length && named ? (
        <SplitView
          chosen={piece !== ''}
          onBack={() => set({ piece: '' })}
          right={piece ? <PassageDetail reference={piece} /> : null}
          left={
            <Listed
              library={named}
              q={q}
              piece={piece}
              onPiece={(ref) => set({ piece: ref }, { replace: piece !== '' })}
              onClear={() => set({ q: '' })}
            />
          }
        />
      ) : (
        <Panel
          label={t('nav.documents')}
          state={libraries}
          isEmpty={(all) => all.length === 0}
          empty={{ title: t('documents.empty'), why: t('documents.emptyWhy'), command: TRY }}
        >
          {null}
        </Panel>
      )}
    </KnowledgeFrame>
  );
}

type Listing = { library: string; q: string; piece: string; onPiece: (ref: string) => void; onClear: () => void };

function Listed({ library, q, piece, onPiece, onClear }: Listing) {
  const { t, i18n } = useTranslation('knowledge');
  const list = usePages<LibraryDocument | Passage>(
    ['knowledge', 'documents', library, q],
    (cursor): Promise<PageOf<LibraryDocument | Passage>> =>
      q ? passagePage(library, q) : documentPage(library, cursor),
  );
  return (
    <ListPanel
      list={list}
      title={q ? t('documents.passages') : t('nav.documents')}
      filtered={q ? { text: t('nothing', { q }), onClear } : undefined}
      empty={{ title: t('documents.empty'), why: t('documents.emptyWhy') }}
      label={q ? t('documents.passages') : t('nav.documents')}
      keyOf={(row) => ('ref' in row ? row.ref : `${row.folder}/${row.document}`)}
      rowHeight={ROW}
      selectedKey={piece || null}
      {...(q ? { onSelect: (row: LibraryDocument | Passage) => 'ref' in row && onPiece(row.ref) } : {})}
      render={(row) =>
        'ref' in row ? (
          <span className={classes['row']}>
            <span className={classes['title']}>{row.title || row.document}</span>
            <span className={classes['aside']}>{row.document}</span>
            <span className={classes['snippet']}>{row.content}</span>
          </span>
        ) : (
          <span className={classes['row']}>
            <span className={classes['title']}>{row.title || row.document}</span>
            <TimeText at={row.updated_at * 1_000} />
            <span className={classes['snippet']}>
              {[row.folder, row.document].filter(Boolean).join('/')} ·{' '}
              {t('documents.pieces', {
                count: row.pieces,
                n: row.pieces.toLocaleString(localeTag(i18n.language)),
              })}
            </span>
          </span>
        )
      }
    />
  );
}

function PassageDetail({ reference }: { reference: string }) {
  const { t } = useTranslation(['knowledge', 'common']);
  const passage = usePassage(reference);
  return (
    <Panel
      title={passage.data?.title || t('documents.passage')}
      state={passage}
      actions={<CopyButton value={reference} label={t('common:id')} />}
    >
      {({ content, source, place, kb_namespace }) => (
        <>
          <TextBlock text={content} copy />
          <p className={classes['from']}>{t('documents.from', { source, place, library: kb_namespace })}</p>
        </>
      )}
    </Panel>
  );
}

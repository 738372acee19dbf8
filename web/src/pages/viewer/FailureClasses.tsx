// Failures by class, as bars that narrow the list to one class; and the way to let failed jobs run again.
import { Text, UnstyledButton } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { localeTag } from '@/i18n';
import { Panel } from '@/parts/Panel';
import { useFailures, type Failures } from './queries';
import { RetryButton } from './RetryButton';
import type { TabProps } from './state';
import classes from './FailureClasses.module.css';

type Props = TabProps & {
  /** How many jobs stand failed now. */
  failed: number;
  paused?: boolean;
  /** On another view: a class leads to the failures. */
  linked?: boolean;
};

const SHOWN = 6;

export function FailureClasses({ state, set, failed, paused = false, linked = false }: Props) {
  const { t } = useTranslation('viewer');
  // The bars stay when one of them is chosen.
  const failures = useFailures({ ...state, class: '' }, { paused, ...(linked ? { limit: 1 } : {}) });
  return (
    <Panel
      title={t('failures.byClass')}
      state={failures}
      degraded={failures.data?.truncated ? t('failures.truncated') : null}
      actions={failed > 0 ? <RetryButton failed={failed} /> : null}
    >
      {(data) => (
        <>
          <Bars
            {...data}
            chosen={state.class}
            few={linked}
            onChoose={(name) => set({ tab: 'failures', class: name, sel: null })}
          />
          <Text size="xs" c="dimmed" role="status">
            {data.total === 0 && failed === 0 ? t('failures.none') : t('failures.standing', { count: failed })}
          </Text>
        </>
      )}
    </Panel>
  );
}

type BarsProps = Pick<Failures, 'byErrorClass'> & { chosen: string; few: boolean; onChoose: (name: string) => void };

function Bars({ byErrorClass, chosen, few, onChoose }: BarsProps) {
  const { t, i18n } = useTranslation('viewer');
  const classesOf = Object.entries(byErrorClass).sort(([, a], [, b]) => b - a);
  const most = Math.max(1, ...classesOf.map(([, count]) => count));
  return (
    <ul className={classes['bars']}>
      {classesOf.slice(0, few ? SHOWN : classesOf.length).map(([name, count]) => {
        const on = chosen === name;
        const said = i18n.exists(`viewer:failures.class.${name}`) ? t(`failures.class.${name as 'timeout'}`) : null;
        return (
          <li key={name}>
            <UnstyledButton
              className={classes['class'] ?? ''}
              aria-pressed={on}
              title={on ? t('failures.allClasses') : t('failures.onlyClass')}
              onClick={() => onChoose(on ? '' : name)}
            >
              <span className={`${classes['name']} column`}>
                <code>{name}</code>
                {said && <span className="muted size12">{said}</span>}
              </span>
              <span className={classes['track']}>
                <span style={{ width: `${(count / most) * 100}%` }} />
              </span>
              <span className="size13 bold end">{count.toLocaleString(localeTag(i18n.language))}</span>
            </UnstyledButton>
          </li>
        );
      })}
    </ul>
  );
}

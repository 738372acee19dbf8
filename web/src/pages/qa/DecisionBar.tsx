// The decisions about a question with its answer.
import {
  IconArrowBackUp,
  IconArrowMerge,
  IconCheck,
  IconPencil,
  IconPlayerSkipForward,
  IconX,
} from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { DecisionBar as Bar, type Decision } from '@/parts/DecisionBar';

export const ACTIONS = ['approve', 'reject', 'edit', 'merge', 'skip', 'undo'] as const;
export type Action = (typeof ACTIONS)[number];

const LOOK: Record<Action, Pick<Decision, 'icon' | 'letter' | 'colour'>> = {
  approve: { icon: IconCheck, letter: 'A', colour: 'green' },
  reject: { icon: IconX, letter: 'R', colour: 'red' },
  edit: { icon: IconPencil, letter: 'E' },
  merge: { icon: IconArrowMerge, letter: 'M' },
  skip: { icon: IconPlayerSkipForward, letter: 'S' },
  undo: { icon: IconArrowBackUp, letter: 'U' },
};

type Props = {
  offered: Record<Action, boolean>;
  run: Record<Action, () => void>;
  progress: { position: number; total: number } | null;
};

export function DecisionBar({ offered, run, progress }: Props) {
  const { t } = useTranslation('qa');
  return (
    <Bar
      label={t('actions.label')}
      progress={progress && { ...progress, text: t('progress', progress), label: t('progressLabel', progress) }}
      decisions={ACTIONS.map((name) => ({
        ...LOOK[name],
        name,
        label: t(`actions.${name}`),
        disabled: !offered[name],
        run: run[name],
      }))}
    />
  );
}

// How long a run or a batch has taken; counts on while it runs.
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { tookMs } from '@/api/lab';
import { durationText } from './amounts';

const TICK_MS = 1_000;

export function Took({ of }: { of: { started_at: number | null; ended_at: number | null } }) {
  const { i18n } = useTranslation();
  const [now, setNow] = useState(() => Date.now());
  const running = of.started_at !== null && of.ended_at === null;
  useEffect(() => {
    if (!running) return;
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, [running]);
  const ms = tookMs(of, now / 1_000);
  return ms === null ? null : <span>{durationText(ms, i18n.language)}</span>;
}

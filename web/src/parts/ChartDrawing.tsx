// The drawing of a chart by ECharts, as SVG. Colours come from the tokens; dash and marker differ as well, and what is
// written over it is text, never markup.
import { useComputedColorScheme } from '@mantine/core';
import { BarChart, LineChart } from 'echarts/charts';
import { AriaComponent, GridComponent, LegendComponent, TooltipComponent } from 'echarts/components';
import * as echarts from 'echarts/core';
import { SVGRenderer } from 'echarts/renderers';
import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { usePreferences } from '@/app/preferences';
import { localeTag } from '@/i18n';
import type { ChartProps } from './chartTypes';

echarts.use([LineChart, BarChart, GridComponent, TooltipComponent, LegendComponent, AriaComponent, SVGRenderer]);

const LONG_MS = 2 * 86_400_000; // a longer axis tells days, a shorter one hours
const BY_DAY: Intl.DateTimeFormatOptions = { month: 'short', day: 'numeric' };
const BY_MINUTE: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' };
const DASHES = ['solid', 'solid', 'dashed', 'dotted', 'dashed', 'dotted'] as const;
const MARKERS = ['circle', 'diamond', 'rect', 'triangle', 'roundRect', 'arrow'] as const;

export function ChartDrawing({ kind, axis, series, label, format, height = 240, onPick }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const chart = useRef<echarts.ECharts | null>(null);
  const pick = useRef(onPick);
  pick.current = onPick;
  const { i18n } = useTranslation();
  const { clock } = usePreferences();
  const scheme = useComputedColorScheme('light');

  useEffect(() => {
    if (!box.current) return;
    const made = echarts.init(box.current, undefined, { renderer: 'svg' });
    chart.current = made;
    made.getZr().on('click', (event) => {
      const [index] = made.convertFromPixel({ seriesIndex: 0 }, [event.offsetX, event.offsetY]) as number[];
      if (index !== undefined && index >= 0) pick.current?.(Math.round(index));
    });
    const watcher = new ResizeObserver(() => made.resize());
    watcher.observe(box.current);
    return () => {
      watcher.disconnect();
      made.dispose();
      chart.current = null;
    };
  }, []);

  useEffect(() => {
    const token = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(`--cm-${name}`).trim();
    const tag = localeTag(i18n.language);
    const zone = clock === 'utc' ? { timeZone: 'UTC' } : {};
    const timed = axis.some((place) => typeof place === 'number');
    const span = timed ? Number(axis.at(-1)) - Number(axis[0]) : 0;
    const short = new Intl.DateTimeFormat(tag, { ...(span > LONG_MS ? BY_DAY : BY_MINUTE), ...zone });
    const write = format ?? ((value: number) => value.toLocaleString(tag));
    const words = { color: token('muted'), fontSize: 12 };
    const line = { lineStyle: { color: token('line') } };
    const places = {
      type: 'category' as const,
      data: axis.map((place) => (typeof place === 'number' ? short.format(place) : place)),
      axisLine: line,
      axisTick: { show: false },
      axisLabel: { ...words, hideOverlap: true },
      ...(kind === 'stacked' ? { inverse: true } : { boundaryGap: kind === 'bar' || series.some(({ bar }) => bar) }),
    };
    const values = {
      type: 'value' as const,
      splitLine: line,
      axisLabel: { ...words, formatter: (value: number) => write(value) },
    };
    const stacked = { stack: 'all', itemStyle: { borderColor: token('panel'), borderWidth: 1 } };
    chart.current?.setOption(
      {
        animation: false,
        aria: { enabled: true, label: { description: label } },
        color: [1, 2, 3, 4, 5, 6].map((number) => token(`chart-${number}`)),
        textStyle: { fontFamily: getComputedStyle(document.body).fontFamily },
        tooltip: {
          trigger: 'axis',
          renderMode: 'richText',
          axisPointer: { type: kind === 'line' ? 'line' : 'shadow' },
          backgroundColor: token('raised'),
          borderColor: token('control'),
          textStyle: { color: token('fg'), fontSize: 12 },
          valueFormatter: (value: unknown) => (typeof value === 'number' ? write(value) : '–'),
        },
        legend: {
          type: 'scroll',
          top: 4,
          left: 0,
          // Where the switch to the table stands beside it, and not above it.
          right: window.matchMedia('(max-width: 48em)').matches ? 0 : 168,
          itemWidth: 18,
          itemHeight: 10,
          textStyle: { color: token('fg'), fontSize: 12 },
          pageIconColor: token('muted'),
          pageTextStyle: words,
        },
        grid: { left: 4, right: 12, top: 44, bottom: 4, containLabel: true },
        xAxis: kind === 'stacked' ? values : places,
        yAxis: kind === 'stacked' ? places : values,
        series: series.map(({ name, values: figures, bar }, index) => ({
          name,
          data: [...figures],
          ...(kind === 'line' && !bar
            ? {
                type: 'line' as const,
                showSymbol: axis.length <= 40,
                symbol: MARKERS[index % MARKERS.length],
                symbolSize: 6,
                lineStyle: { width: 2, type: DASHES[index % DASHES.length] },
              }
            : {
                type: 'bar' as const,
                barMaxWidth: 24,
                ...(kind === 'stacked' ? stacked : {}),
              }),
        })),
      },
      true,
    );
  }, [kind, axis, series, label, format, i18n.language, clock, scheme]);

  return <div ref={box} role="img" aria-label={label} style={{ height }} />;
}

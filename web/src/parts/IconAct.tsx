// A button that is an icon: its name is heard, and shown by the pointer. What it stands in hears nothing of the click.
import { ActionIcon, Tooltip, type ActionIconProps } from '@mantine/core';
import type { ComponentType } from 'react';

type Props = Pick<ActionIconProps, 'variant' | 'disabled' | 'loading'> & {
  label: string;
  icon: ComponentType<{ size: number }>;
  size?: number;
  run: () => void;
};

export function IconAct({ label, icon: Icon, size = 28, run, ...rest }: Props) {
  return (
    <Tooltip label={label}>
      <ActionIcon
        size={size}
        aria-label={label}
        {...rest}
        onClick={(event) => {
          event.stopPropagation();
          run();
        }}
      >
        <Icon size={14} />
      </ActionIcon>
    </Tooltip>
  );
}

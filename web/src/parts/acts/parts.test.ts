import { describe, expect, it } from 'vitest';
import { partsOf } from './parts';

describe('where a text is cut', () => {
  it('is between paragraphs, else lines, else sentences', () => {
    expect(partsOf('One. Two.\n\nThree.')).toEqual(['One. Two.', 'Three.']);
    expect(partsOf('- one\n- two')).toEqual(['- one', '- two']);
    expect(partsOf('The port is 8080. Deploys are on Tuesday.')).toEqual([
      'The port is 8080.',
      'Deploys are on Tuesday.',
    ]);
    expect(partsOf('端口是 8080。周二部署。')).toEqual(['端口是 8080。', '周二部署。']);
  });
  it('leaves a part to write where nothing can be cut', () => {
    expect(partsOf('v1.2 is out')).toEqual(['v1.2 is out', '']);
  });
  it('makes no more parts than one act takes', () => {
    const parts = partsOf(Array.from({ length: 45 }, (_, at) => `line ${at}`).join('\n'));
    expect(parts.length).toBeLessThanOrEqual(20);
    expect(parts.join('\n').split('\n')).toHaveLength(45);
  });
});

// Texts of the pages about memories, which the home page is one of.
import learned from './learned';
import life from './life';
import memory from './memory';
import next from './next';
import notes from './notes';
import timeline from './timeline';

export default { learned, life, memory, next, notes, timeline };

// Texts that a first visit needs.
import common from './common';
import errors from './errors';
import shell from './shell';

export default { common, errors, shell };

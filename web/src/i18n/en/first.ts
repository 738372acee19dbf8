// Texts that a first visit needs.
import common from './common';
import errors from './errors';
import shell from './shell';
import viewer from './viewer';

export default { common, errors, shell, viewer };

// A real issuer on loopback: node issuer.mjs <folder of node_modules> <redirect uri> <file of accounts>
// The file maps a login to its groups, and is read anew for each sign-in.
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { pathToFileURL } from 'node:url';

const [modules, redirect, accounts] = process.argv.slice(2);
const { Provider } = await import(pathToFileURL(`${modules}/oidc-provider/lib/index.js`));
const key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' });

const server = createServer();
server.listen(0, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: 'codexmem',
        client_secret: 'a secret of the tests',
        redirect_uris: [redirect],
        grant_types: ['authorization_code', 'urn:ietf:params:oauth:grant-type:device_code'],
        response_types: ['code'],
      },
    ],
    claims: { openid: ['sub'], profile: ['preferred_username', 'groups'], email: ['email'] },
    cookies: { keys: [randomBytes(16).toString('hex')] },
    features: { devInteractions: { enabled: true }, deviceFlow: { enabled: true } },
    findAccount: (_, id) => ({
      accountId: id,
      claims: () => ({ sub: id, preferred_username: id, groups: JSON.parse(readFileSync(accounts))[id] ?? [] }),
    }),
    jwks: { keys: [{ ...key, kid: 'of the tests', use: 'sig', alg: 'RS256' }] },
    pkce: { required: () => true },
  });
  server.on('request', provider.callback());
  console.log(issuer);
});

import { useConsole } from '../console.js';
import { callConsole, person, type TestPerson } from '../people.js';

const server = useConsole();
let ana: TestPerson;
beforeAll(async () => {
  ana = await person(server);
});

const languageFor = async (accepted: string): Promise<string> => {
  const headers = { cookie: ana.cookie, 'accept-language': accepted };
  return (await callConsole(server, 'GET', '/session', { headers })).body.user.language;
};

it("a person without a language has the browser's, English where it names neither, until they choose one", async () => {
  await server.db.sql('update users set language = null where id = $1', [ana.id]);
  expect(await languageFor('pt-BR,pt;q=0.9,en;q=0.8')).toBe('pt-BR');
  expect(await languageFor('pt')).toBe('pt-BR');
  expect(await languageFor('en-GB,pt-BR;q=0.5')).toBe('en');
  expect(await languageFor('fr')).toBe('en');
  expect(await languageFor('')).toBe('en');

  expect((await ana.put('/profile', { language: 'pt-BR' })).status).toBe(204);
  expect(await languageFor('en')).toBe('pt-BR');
});

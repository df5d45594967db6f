import type { FindingName } from './findings.js';

/** What is wrong and what to do first, in Portuguese; `FINDINGS` has the English. */
export const FINDINGS_PT_BR: Readonly<Record<FindingName, { sentence: string; remedy: string }>> = {
  postgresql_away: {
    sentence: 'O PostgreSQL não responde ou recusa nossa senha.',
    remedy:
      'Nada é enviado nem verificado até ele responder. Verifique o servidor do banco: está no ar, o disco encheu, a rede chega até ele? Os logs dos processos dão o motivo. Só os reinicie se DATABASE_URL mudar: eles se recuperam sozinhos.',
  },
  postgresql_slow: {
    sentence: 'O PostgreSQL responde devagar.',
    remedy:
      'Verifique a carga e o disco do servidor do banco e procure comandos longos em pg_stat_activity: um backup, um relatório ou um bloqueio que ninguém libera.',
  },
  postgresql_full: {
    sentence: 'O PostgreSQL está ficando sem conexões.',
    remedy:
      'Veja em pg_stat_activity quem as ocupa. Encerre o que não deveria estar lá ou aumente max_connections. Não inicie mais processos.',
  },
  redis_away: {
    sentence: 'O Redis não responde.',
    remedy:
      'Os envios são aceitos e saem assim mesmo, um instante depois: os workers os pegam no banco. Traga o Redis de volta, mesmo vazio: nada nele precisa ser preservado.',
  },
  redis_refuses_writes: {
    sentence: 'O Redis responde, mas recusa escritas.',
    remedy:
      'Os envios são aceitos e saem assim mesmo, um instante depois. Dê memória ou espaço em disco ao Redis, ou torne-o mestre outra vez: nada precisa ser reiniciado.',
  },
  redis_unfit: {
    sentence: 'O Redis não pode ser usado com a configuração atual.',
    remedy:
      'Os logs dos processos dão o motivo em uma linha, e a página de operações diz o que fazer. Os workers em execução entregam assim mesmo, um instante depois; nenhum pode ser iniciado.',
  },
  redis_slow: {
    sentence: 'O Redis responde devagar.',
    remedy:
      'Verifique a memória e a carga dele e se mais alguém o usa. Você pode reiniciá-lo, até vazio: a varredura enfileira todos os envios de novo.',
  },
  no_worker: {
    sentence: 'Nenhum worker está em execução.',
    remedy:
      'Inicie os workers e veja nas últimas linhas de log por que pararam. Até lá, os envios esperam no banco.',
  },
  sweeper_stopped: {
    sentence: 'Há workers em execução, mas eles pararam de fazer a varredura.',
    remedy:
      'Verifique se algum worker ainda roda e o que ele registra. Se travou, reinicie-o: os envios que estavam com ele são retomados em segundos.',
  },
  queue_paused: {
    sentence: 'Há uma fila pausada no Redis.',
    remedy:
      'Os envios esperam e falham quando o código vence. Um operador pode retomar a fila no painel de filas. Para parar entregas, use as retenções.',
  },
  configuration_fault: {
    sentence: 'A Meta recusa nossa conta, token ou modelo.',
    remedy:
      'Veja em Remetentes qual e por quê. Dê um novo token ao remetente, ou corrija no Gerenciador de Negócios da Meta e retome-o.',
  },
  no_senders: {
    sentence: 'Há envios à espera e nenhum remetente.',
    remedy: 'Um operador precisa adicionar um remetente em Remetentes.',
  },
  senders_stopped: {
    sentence: 'A Meta parou remetentes.',
    remedy:
      'Veja em Remetentes o que a Meta diz e desde quando. Faça o que o Gerenciador do WhatsApp pede; eles voltam sozinhos quando a Meta liberar.',
  },
  senders_cooling_down: {
    sentence: 'Há remetentes em pausa automática após erros da Meta.',
    remedy:
      'Veja em Remetentes qual é o erro e até quando. Eles voltam sozinhos. Para voltar antes, corrija a causa e retome-os.',
  },
  senders_paused: {
    sentence: 'Operadores pausaram remetentes.',
    remedy:
      'Veja em Remetentes quem os pausou e por quê. Envios sem outro remetente esperam até um ser retomado ou falham quando o código vence.',
  },
  template_stopped: {
    sentence: 'A Meta parou um modelo.',
    remedy:
      'Veja em Remetentes qual modelo e por quê. Os códigos neste idioma saem pelos outros remetentes. Ele volta sozinho quando a Meta o aprovar.',
  },
  template_stopped_everywhere: {
    sentence: 'A Meta parou um modelo, e nenhum remetente atende o idioma.',
    remedy:
      'Os códigos neste idioma esperam e falham quando vencem. Veja em Remetentes por quê, corrija o modelo no Gerenciador do WhatsApp ou adicione um remetente com outro modelo.',
  },
  senders_flagged: {
    sentence: 'A Meta diz que a qualidade de um número é baixa: pessoas o bloqueiam ou denunciam.',
    remedy:
      'Envie menos por ele e veja para quem se envia: uma conta cujas pessoas não esperam códigos, ou tráfego inflado por alguém. Em seguida, a Meta pode limitar o número.',
  },
  provider_failing: {
    sentence: 'As chamadas à Meta falham.',
    remedy:
      'Veja a página de status da Meta. Os envios são tentados de novo automaticamente, e as unidades dos que falham são devolvidas. Se demorar, retenha a entrega em vez de deixar os códigos vencerem.',
  },
  provider_slow: {
    sentence: 'A Meta responde devagar.',
    remedy:
      'Veja a página de status da Meta e se nossa rede chega rápido a outros servidores. Nada se perde; os códigos chegam mais tarde.',
  },
  webhooks_rejected: {
    sentence: 'Chegam webhooks com assinatura errada.',
    remedy:
      'Compare o WHATSAPP_APP_SECRET de cada processo da API com o segredo do aplicativo na Meta. A Meta repete o que foi recusado por sete dias. Se outros webhooks passam, pode ser alguém de fora postando no endereço.',
  },
  receipts_missing: {
    sentence: 'As mensagens são aceitas, mas nenhum recibo chega.',
    remedy:
      'Verifique o webhook nas configurações do app na Meta, a página de status dela e se a API responde em /webhooks/whatsapp de fora. Os códigos saem mesmo assim; só o status fica em enviado.',
  },
  receipts_late: {
    sentence: 'Há recibos guardados e não aplicados.',
    remedy:
      'Procure nos logs dos workers erros com recibos. Nada se perde: os recibos são aplicados assim que os workers puderem.',
  },
  sends_failing: {
    sentence: 'Os envios falham.',
    remedy:
      'Veja envios que falharam no console: o código da Meta na linha do tempo diz o motivo. As unidades dos envios que falham são devolvidas.',
  },
  reason_failing: {
    sentence: 'Envios falham por um motivo que não é do destinatário.',
    remedy:
      'Expirados: verifique workers, remetentes e retenções. Tentativas esgotadas: verifique as chamadas à Meta e a página de status da Meta.',
  },
  country_failing: {
    sentence: 'Envios para um país falham.',
    remedy:
      'Veja envios que falharam para esse país: o código da Meta diz o motivo. Verifique a página de status da Meta e retenha o país em vez de deixar os códigos falharem.',
  },
  sender_failing: {
    sentence: 'Envios de um remetente falham.',
    remedy: 'Verifique em Remetentes o que a Meta diz dele. Pause-o: os outros remetentes assumem.',
  },
  sends_late: {
    sentence: 'Há envios à espera e nenhum worker os processa.',
    remedy: 'Verifique se os workers rodam e o que registram. Se só estão ocupados, inicie mais um.',
  },
  senders_busy: {
    sentence: 'Os remetentes não dão conta.',
    remedy:
      'Chegam mais envios do que a vazão deles permite. Aumente-a se a Meta permitir, adicione um remetente ou limite a conta que envia tanto.',
  },
  sends_held: {
    sentence: 'Há envios retidos.',
    remedy:
      'Veja em Retenções quem as ativou e por quê. Os envios saem assim que a retenção é liberada ou falham quando o código vence.',
  },
  retention_behind: {
    sentence: 'Envios antigos são guardados por mais tempo do que dizem as configurações.',
    remedy:
      'Procure nos logs dos workers erros da retenção. Se não houver, ela só está lenta: o comando “retention run” faz tudo de uma vez, de preferência numa hora calma.',
  },
  mail_not_sent: {
    sentence: 'E-mails não saem.',
    remedy:
      'Verifique o que o servidor de SMTP responde aos workers e se SMTP_URL ainda vale. Nada mais depende disso: códigos continuam a sair, e cada e-mail é tentado por um dia.',
  },
};

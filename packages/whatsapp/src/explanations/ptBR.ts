import type { ExplanationTexts, Texts } from './texts.js';

const NEW_TOKEN = 'Cadastre um novo token de acesso para o remetente e depois reative-o.';
const PERMISSIONS =
  'Nas configurações do negócio na Meta, dê ao usuário do sistema dono do token a permissão whatsapp_business_messaging para esta conta e depois reative o remetente.';
const ACCOUNT_QUALITY =
  'Abra a página de qualidade da conta no Business Suite da Meta, faça o que ela pede ou solicite uma análise; enquanto isso, use remetentes de outro negócio.';
const CHECK_NUMBER =
  'Confira o número no Gerenciador do WhatsApp, registre-o novamente e depois reative o remetente.';
const PIN =
  'Redefina o PIN de duas etapas do número no Gerenciador do WhatsApp, registre-o novamente e depois reative o remetente.';
const OUR_REQUEST =
  'É uma falha do próprio serviço: informe o código e o horário a quem o desenvolve. Os outros envios não são afetados.';
const RETRIED =
  'O envio é refeito automaticamente. Se acontecer com muitos envios, consulte a página de status da Meta.';
const TEMPLATE_MANAGER =
  'Abra o modelo no Gerenciador do WhatsApp, corrija o que ele aponta, espere a aprovação e depois reative o remetente.';
const TEMPLATE_FORM =
  'Use um modelo de autenticação com um código e um botão de copiar código ou de um toque, aguarde a aprovação e depois reative o remetente.';
const OTHER_NUMBER = 'Peça outro número à pessoa ou fale com ela por outro meio.';
const MARKETING =
  'Confira se a categoria do modelo ainda é autenticação, e não marketing, e depois reative o remetente.';

const codes: readonly (readonly [number, Texts])[] = [
  [0, ['O WhatsApp não aceita mais o token de acesso do remetente.', NEW_TOKEN]],
  [3, ['O token de acesso do remetente não tem um recurso necessário.', PERMISSIONS]],
  [10, ['Uma permissão do token de acesso do remetente nunca foi concedida ou foi retirada.', PERMISSIONS]],
  [104, ['O WhatsApp não encontrou nenhum token de acesso na requisição.', NEW_TOKEN]],
  [190, ['O token de acesso do remetente expirou ou não é válido.', NEW_TOKEN]],
  [200, ['O token de acesso do remetente não tem uma permissão necessária.', PERMISSIONS]],
  [131005, ['O token de acesso do remetente não pode enviar mensagens.', PERMISSIONS]],

  [368, ['O WhatsApp restringiu o negócio do remetente por violar uma política.', ACCOUNT_QUALITY]],
  [131031, ['O WhatsApp bloqueou a conta comercial do remetente.', ACCOUNT_QUALITY]],
  [
    131042,
    [
      'A conta comercial do remetente tem um problema de pagamento.',
      'Confira a forma de pagamento, a linha de crédito, a moeda e o fuso da conta do WhatsApp na cobrança da Meta e depois reative o remetente.',
    ],
  ],
  [
    131064,
    [
      'A conta comercial do remetente está limitada porque há modelos na categoria errada.',
      'Revise as categorias dos modelos; a Meta retira o limite quando o período termina.',
    ],
  ],
  [
    134011,
    [
      'A conta comercial do remetente não aceitou os termos de pagamentos.',
      'Aceite os termos no Gerenciador do WhatsApp e depois reative o remetente.',
    ],
  ],
  [
    130497,
    [
      'O negócio do remetente não pode enviar mensagens a números deste país.',
      'Verifique o negócio junto à Meta ou adicione um remetente de um negócio que possa enviar a este país.',
    ],
  ],
  [
    131030,
    [
      'O remetente é um número de teste e só pode enviar a números de uma lista.',
      'Use um número de produção ou inclua o destinatário na lista, no painel de apps da Meta.',
    ],
  ],

  [
    4,
    [
      'O app tinha feito chamadas demais, e o WhatsApp não aceitou esta.',
      'Este envio é refeito automaticamente. Se persistir, confira os limites do app no painel da Meta.',
    ],
  ],
  [
    80007,
    [
      'A conta comercial tinha feito chamadas demais, e o WhatsApp não aceitou esta.',
      'Este envio é refeito automaticamente. Se persistir, adicione remetentes de outra conta comercial.',
    ],
  ],
  [
    130429,
    [
      'O remetente tinha atingido seu limite de mensagens por segundo.',
      'Este envio é refeito automaticamente. Se persistir, reduza a vazão do remetente ao que a Meta concede ou adicione remetentes.',
    ],
  ],
  [
    131056,
    [
      'O remetente tinha enviado mensagens demais a este número em pouco tempo.',
      'Este envio é refeito automaticamente. Faça as pessoas esperarem mais entre um código e outro.',
    ],
  ],

  [1, ['O WhatsApp teve um erro e não explicou qual.', RETRIED]],
  [2, ['O WhatsApp estava fora do ar ou sobrecarregado.', RETRIED]],
  [131000, ['O WhatsApp teve um erro interno.', RETRIED]],
  [131016, ['Uma parte do WhatsApp estava indisponível.', RETRIED]],
  [133004, ['Um servidor do WhatsApp estava indisponível.', RETRIED]],
  [135000, ['O WhatsApp recusou a mensagem sem dizer por quê.', RETRIED]],

  [
    33,
    [
      'O número do remetente foi excluído do WhatsApp.',
      'Troque o remetente: adicione outro número e pause este.',
    ],
  ],
  [
    131037,
    [
      'O nome de exibição do remetente não foi aprovado.',
      'Consiga a aprovação do nome no Gerenciador do WhatsApp e depois reative o remetente.',
    ],
  ],
  [131045, ['O número do remetente não está registrado corretamente.', CHECK_NUMBER]],
  [
    131048,
    [
      'O remetente está limitado porque muita gente o bloqueia ou denuncia.',
      'Confira a qualidade do número no Gerenciador do WhatsApp e quem pede códigos que ninguém digita; enquanto isso, outros remetentes enviam.',
    ],
  ],
  [
    131057,
    [
      'O remetente está em manutenção no WhatsApp.',
      'Espere: passa em minutos e, enquanto isso, outros remetentes enviam.',
    ],
  ],
  [133000, ['O registro do número do remetente não foi desfeito por completo.', CHECK_NUMBER]],
  [133005, ['O PIN de duas etapas do número do remetente está errado.', PIN]],
  [133006, ['O número do remetente precisa ser verificado novamente.', CHECK_NUMBER]],
  [
    133008,
    [
      'O PIN de duas etapas do número do remetente foi digitado errado muitas vezes.',
      'Espere o tempo que a Meta indica e depois defina um novo PIN.',
    ],
  ],
  [133009, ['O PIN de duas etapas do número do remetente foi digitado muitas vezes em pouco tempo.', PIN]],
  [133010, ['O número do remetente não está registrado no WhatsApp.', CHECK_NUMBER]],
  [
    133015,
    [
      'O número do remetente acabou de ser excluído e ainda não pode ser registrado.',
      'Espere cinco minutos, registre o número e depois reative o remetente.',
    ],
  ],
  [
    133016,
    [
      'O número do remetente foi registrado muitas vezes.',
      'Espere a Meta retirar o bloqueio (até 72 horas); enquanto isso, outros remetentes enviam.',
    ],
  ],
  [
    2494100,
    [
      'O número do remetente está sendo migrado e está em manutenção.',
      'Espere a migração terminar e depois reative o remetente.',
    ],
  ],

  [
    130403,
    [
      'O negócio do remetente bloqueou este número.',
      'Desbloqueie o número no WhatsApp se o bloqueio tiver sido um engano.',
    ],
  ],
  [130472, ['O número está em um experimento do WhatsApp e não recebe estas mensagens.', OTHER_NUMBER]],
  [131021, ['O número é o mesmo de onde o código é enviado.', 'Envie o código ao número da própria pessoa.']],
  [
    131026,
    [
      'O WhatsApp não conseguiu entregar a este número: ele não tem WhatsApp, usa uma versão muito antiga ou o dono não aceitou os termos do WhatsApp.',
      'Peça à pessoa que confira o número ou informe outro; telefone fixo e número sem WhatsApp não recebem código.',
    ],
  ],
  [
    131049,
    [
      'O WhatsApp decidiu não entregar a este número por enquanto.',
      'Espere um dia até o próximo código para este número ou use outro.',
    ],
  ],
  [
    131050,
    [
      'A pessoa parou de receber mensagens deste negócio.',
      'Peça à pessoa que permita as mensagens do negócio no WhatsApp ou informe outro número.',
    ],
  ],
  [
    137000,
    [
      'O número mudou de dono, ou o WhatsApp foi instalado de novo, desde que esta pessoa verificou um código pela última vez.',
      'Confirme por outro meio, e não por este número, se ainda é a mesma pessoa. Se for, peça que voltemos a confiar no número.',
    ],
  ],

  [100, ['O WhatsApp não aceitou um parâmetro da mensagem.', OUR_REQUEST]],
  [131008, ['Faltava um parâmetro na mensagem.', OUR_REQUEST]],
  [131009, ['Um parâmetro da mensagem tinha um valor que o WhatsApp não aceita.', OUR_REQUEST]],
  [131047, ['O WhatsApp tratou a mensagem como uma que não usa modelo.', OUR_REQUEST]],
  [131051, ['O WhatsApp não conhece este tipo de mensagem.', OUR_REQUEST]],
  [131052, ['O WhatsApp não conseguiu buscar um arquivo.', OUR_REQUEST]],
  [131053, ['O WhatsApp não conseguiu processar um arquivo.', OUR_REQUEST]],
  [131055, ['O WhatsApp tratou a mensagem como marketing, que tem uma API própria.', MARKETING]],
  [131062, ['O WhatsApp só envia códigos a números de telefone.', OUR_REQUEST]],
  [134100, ['A API de marketing do WhatsApp recebeu a mensagem e a recusou.', MARKETING]],
  [134101, ['A API de marketing do WhatsApp ainda não conhece o modelo.', MARKETING]],
  [134102, ['A API de marketing do WhatsApp não pode usar o modelo.', MARKETING]],

  [131063, ['O WhatsApp considera o modelo como marketing, que está desativado para o negócio.', MARKETING]],
  [132000, ['O modelo do remetente espera outra quantidade de parâmetros.', TEMPLATE_FORM]],
  [
    132001,
    [
      'O modelo do remetente não existe neste idioma ou não está aprovado.',
      'Consiga a aprovação do modelo em português e em inglês, confira o nome e o idioma definidos no remetente e depois reative-o.',
    ],
  ],
  [132005, ['O texto do modelo do remetente fica longo demais com o código.', TEMPLATE_MANAGER]],
  [132007, ['O texto do modelo do remetente viola as regras do WhatsApp.', TEMPLATE_MANAGER]],
  [132012, ['O modelo do remetente espera os parâmetros em outro formato.', TEMPLATE_FORM]],
  [
    132015,
    [
      'O WhatsApp pausou o modelo do remetente por causa de avaliações negativas.',
      'Espere a pausa acabar ou edite o modelo no Gerenciador do WhatsApp; enquanto isso, dê ao remetente outro modelo aprovado.',
    ],
  ],
  [
    132016,
    [
      'O WhatsApp desativou o modelo do remetente definitivamente.',
      'Crie um novo modelo, consiga a aprovação e defina-o no remetente.',
    ],
  ],
  [132018, ['Os parâmetros do modelo do remetente não são válidos.', TEMPLATE_FORM]],
  [132068, ['O fluxo no modelo do remetente está bloqueado.', TEMPLATE_FORM]],
  [132069, ['O fluxo no modelo do remetente está limitado.', TEMPLATE_FORM]],
  [
    2388019,
    [
      'A conta comercial do remetente tem modelos demais.',
      'Exclua no Gerenciador do WhatsApp os modelos que ninguém usa.',
    ],
  ],
  [2388039, ['O status do modelo do remetente não pode ser mudado agora.', TEMPLATE_MANAGER]],
  [2388040, ['Um campo do modelo do remetente é longo demais.', TEMPLATE_MANAGER]],
  [2388047, ['O cabeçalho do modelo do remetente está no formato errado.', TEMPLATE_MANAGER]],
  [2388072, ['O corpo do modelo do remetente está no formato errado.', TEMPLATE_MANAGER]],
  [2388073, ['O rodapé do modelo do remetente está no formato errado.', TEMPLATE_MANAGER]],
  [2388293, ['O modelo do remetente tem parâmetros demais para o seu tamanho.', TEMPLATE_MANAGER]],
  [2388299, ['O modelo do remetente começa ou termina com um parâmetro.', TEMPLATE_MANAGER]],
];

export const PT_BR: ExplanationTexts = {
  codes: new Map(codes),
  outcomes: {
    accepted: ['O WhatsApp aceitou a mensagem.', 'Aguarde os recibos.'],
    retry: ['O WhatsApp não aceitou a mensagem, por um motivo que pode passar.', RETRIED],
    unknown: [
      'A resposta do WhatsApp se perdeu; a mensagem pode ter saído ou não.',
      'Aguarde: um recibo esclarece, ou o mesmo código é enviado de novo.',
    ],
    sender: [
      'O WhatsApp não deixou este remetente enviar.',
      'Confira o número no Gerenciador do WhatsApp e depois reative o remetente; enquanto isso, outros remetentes enviam.',
    ],
    recipient: ['O WhatsApp informou que não entregou a mensagem.', OTHER_NUMBER],
    config: [
      'O WhatsApp recusou a mensagem por causa da configuração do remetente.',
      'Confira o token, a conta comercial e o modelo do remetente nas configurações do negócio na Meta e depois reative o remetente.',
    ],
  },
  unknownSender: [
    'O identificador do número do remetente não existe para o token de acesso dele.',
    'Confira o identificador do número e as permissões do token e depois reative o remetente.',
  ],
};

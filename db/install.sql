-- Install Forebay 0.2.0, or upgrade to it: psql -v ON_ERROR_STOP=1 -f db/install.sql
--
-- The files in load order; a function's folder is the role that may call it. One transaction.
-- Running it again changes nothing, and neither does `forebay db upgrade` after it.
-- Written by `forebay db install-script`: do not edit.

\set release 0.2.0
\ir install/begin.sql

-- migrations
\set file migrations/0001_create_roles.sql \set sha256 d5c88b075065fc4799b53272e21ded871ffba4458a6a2641506dbf403e3a6dbe \ir install/apply.sql
\set file migrations/0002_create_agents_and_tasks.sql \set sha256 2c1fbf18c74e0332d64029c80d29acba5533e27af6ec31b31ea3d5a7123ff4a4 \ir install/apply.sql
\set file migrations/0003_create_row_types.sql \set sha256 0e1b9666d7fe946b311632fa3a0ee86d2fb06992126b879a0adb73a4a1e474c2 \ir install/apply.sql
\set file migrations/0004_hold_quotas.sql \set sha256 f5901b93f6219ca006115f4015cc9fcccef8ee239b7e27d8e47688aea63fb0bb \ir install/apply.sql

-- functions/internal
\set file functions/internal/_admit.sql \set sha256 3b98d4c5fbfac3000344912502e6beac58c2476b66395bbdd1ce9375186ed964 \ir install/apply.sql
\set file functions/internal/_after_failure.sql \set sha256 19605e6982596b0563d60820e8ff95609b0ad4e04c8bf08f4cb6e6059a75a6a4 \ir install/apply.sql
\set file functions/internal/_aged_order.sql \set sha256 8a853a50f497fdca6f6196e95453fa99235b88fdc79a5372eca3ad8a7f719bbc \ir install/apply.sql
\set file functions/internal/_agent_key.sql \set sha256 a3485185c8d3b59a229f11d9a952ce90dcd0d7c51ebc86e0d8145213555b9891 \ir install/apply.sql
\set file functions/internal/_agent_state.sql \set sha256 f1894c01eb2e0359e8126e4cdd5a1aa90bb83d1fab2c0ae97b3952be074069c7 \ir install/apply.sql
\set file functions/internal/_ask_wakeup.sql \set sha256 ea3529365d510cf512f1a0078fc072fce111b6a7ff87d7fd89c6b8a8af7a50eb \ir install/apply.sql
\set file functions/internal/_attempt_document.sql \set sha256 47f37d2ae19cb11c40930d6ed86d24fa0d77f6d49bb08def6bf43480ff294d2f \ir install/apply.sql
\set file functions/internal/_audit.sql \set sha256 5aaafc89472ce203c6af52123fd031c69f7d52f9936208a041d35543c3aab3da \ir install/apply.sql
\set file functions/internal/_backoff.sql \set sha256 e5fd54a476f52e7631d845c69930d339c8775bc8229726e12a0cc90668661f04 \ir install/apply.sql
\set file functions/internal/_boosted.sql \set sha256 544383c2c7540d1d9f20c4bb31cc290f955580ee176e8d7776c72c0ecd1aafec \ir install/apply.sql
\set file functions/internal/_bucket_level.sql \set sha256 8c615f1ca60bca4b224bb54aedbdac5d03f7947d53f573e3d5e0ff15b4ffddc6 \ir install/apply.sql
\set file functions/internal/_call_hindrance.sql \set sha256 eab92a83467579d0c04e1b7b169a0bf8962722d2e7c7cb83da0b442cd724a076 \ir install/apply.sql
\set file functions/internal/_called_at.sql \set sha256 d15fca6471ad8d94a025e18833d618f52684036ac109f9d67a5f1142a7a3226a \ir install/apply.sql
\set file functions/internal/_calls_ahead.sql \set sha256 97ae90e8e4288aa1f30aea1ba992ca562aa4a4fd6c20a2d9566eb26a0445ec34 \ir install/apply.sql
\set file functions/internal/_calls_to_come.sql \set sha256 dee8469aefa4c9c8056519cb8af5fed0d9d329cfcb3b8fc090a446d1d3d717a6 \ir install/apply.sql
\set file functions/internal/_cancel.sql \set sha256 f153b94eca5ced28d6bd1a30fa51b754bb33587a9b07bacab7dc688527cbd636 \ir install/apply.sql
\set file functions/internal/_candidates.sql \set sha256 cfb19ad2469bf976b77723205f12fe34a85c9dcc85268b8ef258ad625bca4350 \ir install/apply.sql
\set file functions/internal/_cap_today.sql \set sha256 9184dbbfca13ccae52c9e208ea4996f443bcd48e9029435f33697251fb207ec5 \ir install/apply.sql
\set file functions/internal/_capped_customers.sql \set sha256 fd3cce1942153dee1c3553670054e6206b3ff4d788aa75f3658580767ab6cc71 \ir install/apply.sql
\set file functions/internal/_caps.sql \set sha256 183b4bebc5b7582af65d28d022c11b4ef74e5a088448de7ff631d651238399f1 \ir install/apply.sql
\set file functions/internal/_claim.sql \set sha256 f2ea7679666c0f0e9ec0dbc9eed23ea7cefec748e682164e1749c58bfdbdfa85 \ir install/apply.sql
\set file functions/internal/_cluster.sql \set sha256 d4d75bb468ce6263c7c032552073e6d08fd4cd40da05f2ebc7b625559da548a9 \ir install/apply.sql
\set file functions/internal/_configured_words.sql \set sha256 e5fd0f288135c374205e5da5e17cb2a9dc86ababaede116af1390bcb48e0c6ac \ir install/apply.sql
\set file functions/internal/_count_ahead.sql \set sha256 9097e2f4cd2784c5359cbea9056aa91c34f9ff8cb2988fd7309c6bef426ca1c1 \ir install/apply.sql
\set file functions/internal/_count_expired.sql \set sha256 bff71b506a567bb93b164c44c02e3a5b3e625a94da7f14ad6797ec714fad41d4 \ir install/apply.sql
\set file functions/internal/_customer_priorities.sql \set sha256 503f75f783691bd38329f7ab4a941bc70741b847a59500029965677c45fc5a69 \ir install/apply.sql
\set file functions/internal/_dearest_usd_per_m.sql \set sha256 dbd1c312ef7ebc87da9d559d899aaab7bbd1ecccb2d034778c1a24eac41e4e73 \ir install/apply.sql
\set file functions/internal/_defer.sql \set sha256 44c951962cf82bdda7f255aa058b0376435bf81fed48d4533dc9affc0b536f22 \ir install/apply.sql
\set file functions/internal/_effective_priority.sql \set sha256 beabadd7ff286a78fbbca6bd88c71afce5257019bd9e8799ff6e02d2337d959f \ir install/apply.sql
\set file functions/internal/_effects.sql \set sha256 44bdbb6316fa21f102773ec2e9e28e5c092149d797b0100fe87bb4a5d6ce5348 \ir install/apply.sql
\set file functions/internal/_end_expired.sql \set sha256 a072c760eca2ca7ef2facc2463f81fb0844e9f05b28c5e9bbcdb2ca5a3052791 \ir install/apply.sql
\set file functions/internal/_end_observed.sql \set sha256 88fa4f61fe2495cc202f444d8453ad7aae2f1e35957df7d136efbf3d718d3c42 \ir install/apply.sql
\set file functions/internal/_end_refusals.sql \set sha256 f81ab770ce886fca9159faaf19dc6cf3d13c6b349d78125b5a6bb9ba24dccf67 \ir install/apply.sql
\set file functions/internal/_error.sql \set sha256 cd3f0ca2189329a7305b07e3b940ff94a8a039eca204042e39be2446bc265b56 \ir install/apply.sql
\set file functions/internal/_estimate.sql \set sha256 302035370bcaa6da8bc002590a15eadbc0b9c44eddf3e7b3a276cbeb2a65d47d \ir install/apply.sql
\set file functions/internal/_exact.sql \set sha256 455671cb8f315cfb1c726aec478afb7bfcc0afb89864fe18ac50baabd064ed63 \ir install/apply.sql
\set file functions/internal/_expect.sql \set sha256 4d924a040c4b3572bf2cbece00a836b5be6fc71b932a522ced8f840da19f6100 \ir install/apply.sql
\set file functions/internal/_expired_priority.sql \set sha256 4b6026c2865e459884fe36658638d476a88409117d8e0bd245e79fc76545150e \ir install/apply.sql
\set file functions/internal/_expiry_error.sql \set sha256 0760b11b9f0946d5fad4fc1c65b5019285f91641829a52fcf34ff88806d86f47 \ir install/apply.sql
\set file functions/internal/_explain_running.sql \set sha256 01c780d42d1418eaabbcd7887719fa0ab678ddae50795f1141b58310303056cd \ir install/apply.sql
\set file functions/internal/_explain_waiting.sql \set sha256 77360fdc2de6d67fd1802cd567f46c2ab9dde96ef7b730a4b6887c8fbb10b31f \ir install/apply.sql
\set file functions/internal/_fair_order.sql \set sha256 829ba492b8a45464ac565a3b477460bf70ace995d0a53a8866e2bb63aa18dabb \ir install/apply.sql
\set file functions/internal/_first_call.sql \set sha256 46bd4d5005660a5619f3828c0156d1c89e0a64d89f1a85c015d6a6af39d33138 \ir install/apply.sql
\set file functions/internal/_first_start.sql \set sha256 d5e7f68191e6c55d47552aa84bc28e2a1bb174daf6b88bd1731d337f05471d3f \ir install/apply.sql
\set file functions/internal/_firsts.sql \set sha256 cb48de6f92a1d7901aacf8b87c994df7a1de7f5436ad08878ec88dd6a82e0b33 \ir install/apply.sql
\set file functions/internal/_fits.sql \set sha256 c5126e3abbff33ca93825cff7d141a297ff02ea4b42f6fd4bc2e2108a3722446 \ir install/apply.sql
\set file functions/internal/_fitting.sql \set sha256 891620f7a6325d116b049f5f9f2f92b2e82784f31c26aac1b80c108ff07ab46f \ir install/apply.sql
\set file functions/internal/_flight_state.sql \set sha256 5e6c0f23a5bf34611473f71b57f4239d404cf7f698511e5a633bef91247e5448 \ir install/apply.sql
\set file functions/internal/_fold_quota.sql \set sha256 271367778bd207c8f5aba9a862c8737d434f7131dcad56b6a1b708ed526263e3 \ir install/apply.sql
\set file functions/internal/_fold_spend.sql \set sha256 3b77910284d7b0a807dd6c9cf4db028ff89f64780a4c7421b7b523fb44c7a404 \ir install/apply.sql
\set file functions/internal/_forget_calls.sql \set sha256 543e95f7ef09a1df90e2286c3556f69f276a5e4c815ea5d5a03f4986578acca4 \ir install/apply.sql
\set file functions/internal/_forget_refusals.sql \set sha256 9e890fc34ea6cf844e7fc3d18c3577ed4f668680667ae2447fad1198f6ff8fcb \ir install/apply.sql
\set file functions/internal/_free_at.sql \set sha256 c3b1fdaa7f2b9fe47bb4de68cf1f8cebbc899f124cf4a6f681db7700ff6509cc \ir install/apply.sql
\set file functions/internal/_get_agent.sql \set sha256 7bd9baf71d420bc9044e02d8d9a06fcb4fe1960d03168ddcf473ec13a2ff2b61 \ir install/apply.sql
\set file functions/internal/_get_attempt.sql \set sha256 fc2a2167cc87ae79b74d68c51172e99cb4b53992fa4d9ce23097258a47d34afb \ir install/apply.sql
\set file functions/internal/_get_batch.sql \set sha256 07688b3d7f07308ef032d81b5584e5b6c4b4062a81202492a8db34fde63408bf \ir install/apply.sql
\set file functions/internal/_get_effective.sql \set sha256 666fcd1a9fcf20c28fc347cf02b527c047cb5549f2ba9d084296991af823eaf5 \ir install/apply.sql
\set file functions/internal/_get_task.sql \set sha256 30a9c110ca13ef8bffe364086364c57e823a968ae2aa350ccc62d948def7f861 \ir install/apply.sql
\set file functions/internal/_give_back.sql \set sha256 64d6d9ca58876f9dd759e7f5e14f2fe275bb2208835ad9b789946ebd96ef9307 \ir install/apply.sql
\set file functions/internal/_grant_call.sql \set sha256 53a33d549355d3dafc0e67c51f6554a478dc61709f663ba60cfe406e0aa47ae0 \ir install/apply.sql
\set file functions/internal/_has_caps.sql \set sha256 eda43002613c8801c421a951a218f37de5177758c99ed14f625cd46fc6d996ea \ir install/apply.sql
\set file functions/internal/_has_customer_caps.sql \set sha256 fa0f282b634a95a74c0c3df22688ce0d1173a7a8cb09657716043c0eca79e1bb \ir install/apply.sql
\set file functions/internal/_has_in_flight.sql \set sha256 fe66abd960c8385b3c644acbca2d6ef76fc572e9e34eecd34cc1581cc907e955 \ir install/apply.sql
\set file functions/internal/_has_waiting.sql \set sha256 dbc8bca3077682449cfec5030b6d083c03159d8560ef1eb0923ab462c8ba0105 \ir install/apply.sql
\set file functions/internal/_hindrance.sql \set sha256 a2dcaf26abf8d8c74ffcaf057ccfcf261cbeef00ac5097ecb4660955b158222f \ir install/apply.sql
\set file functions/internal/_hindrance_words.sql \set sha256 75b29c82272ec6a4c4286a098dcd8b4ced058b114da8f395cd2b59b648a7a550 \ir install/apply.sql
\set file functions/internal/_hold_call.sql \set sha256 9d0ffa15ada0ebc8cadc3386ec5c0d1d00c09e4d9ddefa044c27a87f981b3d93 \ir install/apply.sql
\set file functions/internal/_in_flight.sql \set sha256 04c5776c21295da8b79729439a6b934ed8f0cb479712be9a35cd58a6af006b63 \ir install/apply.sql
\set file functions/internal/_in_unit.sql \set sha256 fc2b161e8d67c7d70d88986283a2f085de919f0e74038d3bb5b8aeac99d66c94 \ir install/apply.sql
\set file functions/internal/_in_use.sql \set sha256 c8790fb5345e871914d116c638a4d307972084fb9bc5a1cac61f8abcf5a49908 \ir install/apply.sql
\set file functions/internal/_is_copy.sql \set sha256 a16d5c03b1f76d519b8dd00c4238eb98c3b6a2739cb4328067abd00fe2e70bfd \ir install/apply.sql
\set file functions/internal/_is_expired.sql \set sha256 b8d0c5dd7f575401868679a842526a77e3b04ccc36c49aaa470b21fe9362aa12 \ir install/apply.sql
\set file functions/internal/_is_external.sql \set sha256 5e10841f05851a8d8fd31bcd808d016008cb801c84c58b52386a12c99b567b0b \ir install/apply.sql
\set file functions/internal/_is_limited.sql \set sha256 52e57877dce3bbe9bdd2d46c8d8ad6f29fdd74023b243e9452745c6d99387566 \ir install/apply.sql
\set file functions/internal/_is_short.sql \set sha256 15d04d7db6744274e43792fa086c9aa72701296182ab8938595601ba8030baf7 \ir install/apply.sql
\set file functions/internal/_is_weighed.sql \set sha256 aa0bc8479853b3f7fbd13a2af918058a4b2095cc46366ce083423badf79afb71 \ir install/apply.sql
\set file functions/internal/_join_line.sql \set sha256 5a8a32f186570c0ee34f2f0decfeb6584fce664f3e7710912e2f8969d2b8f049 \ir install/apply.sql
\set file functions/internal/_json_boolean.sql \set sha256 a769eaa3a99ba7bf2bb0b51107d5b8bd2f880cbe03f932e1c5c10e75a246196e \ir install/apply.sql
\set file functions/internal/_json_integer.sql \set sha256 aa89010552744c1f8531110d1ff75fbf302d3f7b3c90de56fa26ec9d05963fe6 \ir install/apply.sql
\set file functions/internal/_json_name.sql \set sha256 a0b3eed59e65b0591bd4f5704c3e6ef60fa68219e808eca9f4f1b0698e44ede5 \ir install/apply.sql
\set file functions/internal/_json_number.sql \set sha256 dcd95cc0a395edf41a4c5d74ff8aadebccdfa853c68cebce1dc2a9f6ab99a695 \ir install/apply.sql
\set file functions/internal/_json_text.sql \set sha256 b6d9b9a01a4d1b56a80d552adfbb0d6c7c3a07ba672d8fbe043afdec50e15f5c \ir install/apply.sql
\set file functions/internal/_json_time.sql \set sha256 b1d3406939b8c43b6e7dfc1744e19655cdca0193c41106914fdec157031a6838 \ir install/apply.sql
\set file functions/internal/_judge_call.sql \set sha256 6f99b44849a0b5ff48e486a1931ccf3707cd84ec5de08979ccf559bcafdeb05d \ir install/apply.sql
\set file functions/internal/_last_minute.sql \set sha256 602aea63544344058cec050d456dac64fe22b5b8b6daf9495f3aad282d43e98b \ir install/apply.sql
\set file functions/internal/_last_refusal.sql \set sha256 a35fcd0d9407232bc6ca3c1b57706f8df63add61a4f0707842ca04be188de486 \ir install/apply.sql
\set file functions/internal/_learned.sql \set sha256 79f99802817248d38b6ad189e1284c93bb27d91dcdd34a334bfd01e8514d47df \ir install/apply.sql
\set file functions/internal/_leave_room.sql \set sha256 6e012fbbc5b7f61daa339c8fff0ae02cf672aff91a5ca0d0b67ffc3bba43551d \ir install/apply.sql
\set file functions/internal/_levels.sql \set sha256 8679dfb0a58ae6df64599eeb460c795171291b4a674084ca890f11cb3dc84257 \ir install/apply.sql
\set file functions/internal/_limits.sql \set sha256 26f8cac4223dcfb4aa4ebe397c8e59c6da73af30ee3859a472b6b281e8be2296 \ir install/apply.sql
\set file functions/internal/_line.sql \set sha256 76e16240433b36a24309aaad6eafcdec847bbef55b8f174917deb3665aa1ce64 \ir install/apply.sql
\set file functions/internal/_line_key.sql \set sha256 e550d2a752f5f98e463ce2a2c9a32e1bb76a0636e704d953652380dd548457ab \ir install/apply.sql
\set file functions/internal/_line_state.sql \set sha256 38d3a3c88181685b45d1c93546e68fe74e675a72b3fb7a03cfa2b54109036924 \ir install/apply.sql
\set file functions/internal/_lined_up.sql \set sha256 b13dc90e2418c9d6e14e6baf20a5b805a1fdb17ce77a383805f50c3acf59b1d6 \ir install/apply.sql
\set file functions/internal/_lock_agent.sql \set sha256 d4cf48cc8e8a40570a50f0f2ca7349405f37bede255a7ad1e6a558a405a49980 \ir install/apply.sql
\set file functions/internal/_lock_attempt.sql \set sha256 7223dafda72c4c0d5c2855bc73e5d5b08bc1a2b15d59ef97bb5d48325ac8122c \ir install/apply.sql
\set file functions/internal/_lock_customers.sql \set sha256 9162de0cc1f07345bbffe171f59fc8f05039ff13cc6e17bebd970abdcbf1a5af \ir install/apply.sql
\set file functions/internal/_lock_definition.sql \set sha256 bdce51e1f5876c48acc110fe5cac424333d934121af9121b2ad542e29e91d81f \ir install/apply.sql
\set file functions/internal/_lock_end_of_line.sql \set sha256 845a57dbe7caf14e9c3b2491ebb50f1152111273e52a13f3141f8e1f6baa2805 \ir install/apply.sql
\set file functions/internal/_lock_quotas.sql \set sha256 cc76e52192d82bb1861f9a6e6d6c99965a2e583eb168e8fdd63b4f594a4389ed \ir install/apply.sql
\set file functions/internal/_lock_tasks.sql \set sha256 1bb59ed43fc4a526ebc6360901fbccf3e9b9c0fe92e791a235dcbb1d2e861a71 \ir install/apply.sql
\set file functions/internal/_look_again_at.sql \set sha256 5522b8fb4ad3ccd769e1863ae275332b497039387ce45d8532c6acb6351d12dd \ir install/apply.sql
\set file functions/internal/_lowered.sql \set sha256 01f4c6b016366973edb35b75bb5e0a0a00ec872b7339f3a8c35f626c88aac944 \ir install/apply.sql
\set file functions/internal/_match_keys.sql \set sha256 c10bf1077ec8cc4237b0ac0014b744421a4ba41dcb12708e309d6e235367e8a6 \ir install/apply.sql
\set file functions/internal/_matching_tasks.sql \set sha256 b3eebffa8f759b257bfe8793811bf96d3fd1e4f23a37d4d181026835318136d3 \ir install/apply.sql
\set file functions/internal/_may_defer.sql \set sha256 bc0d72ace88cb297ee3c4de996a5ea35fad97f5711331187c4fb7b802de11b18 \ir install/apply.sql
\set file functions/internal/_may_dispatch.sql \set sha256 53d8c44d0fab321981410328d384ab1eaab4e92c47813ebc8ebc79733716450a \ir install/apply.sql
\set file functions/internal/_may_retry.sql \set sha256 ae5a265c8ac8c8a4fe5c46a0c5c40a445a3abe4d9448ec85bb5ac38fabc0333e \ir install/apply.sql
\set file functions/internal/_may_start.sql \set sha256 2adc917a4b97ef6c2e3f4df1fe734d64a0e78e10bf60a312987188c20a74c9ec \ir install/apply.sql
\set file functions/internal/_measure.sql \set sha256 2b7db25576d86ae7c361c81269ee13f9da94ab57b95f63a971325204cc6c4876 \ir install/apply.sql
\set file functions/internal/_moment_words.sql \set sha256 c7a9665934a7a9bbf0dc03532a234217d70256f6723ab8f21d3920a27d97aec6 \ir install/apply.sql
\set file functions/internal/_names.sql \set sha256 4b98395b29edf3db3bf636f18c26d2b17235c1ddd70b16a5d42a98c9511bf6f4 \ir install/apply.sql
\set file functions/internal/_need.sql \set sha256 ff9ad8c22d063b0afc19cd8e6d996cc3422a49b09861b35f3f1a717484cc70ae \ir install/apply.sql
\set file functions/internal/_next_round.sql \set sha256 262d6c317d5c45df08a0845b96f2e615d330fe4d3ebdab5daffbace029feb89d \ir install/apply.sql
\set file functions/internal/_notify.sql \set sha256 5dc8fa1ba0122aac03a0ae92b7902a731df763d15b7d1a65ff628ab8a71b01cd \ir install/apply.sql
\set file functions/internal/_now.sql \set sha256 f9db6e24961e35a4a3f1017bb5cc80ec05b0133d997195ae743bf43c33e57d30 \ir install/apply.sql
\set file functions/internal/_number_words.sql \set sha256 f532a9268dabe3b71a4cafd2315d10cd9fdeb3fecb663cca179351b3790e42a3 \ir install/apply.sql
\set file functions/internal/_open_calls.sql \set sha256 10853f6ba044aeba7c0260e90a9879ab2684039ca8a3454634e1170908162cb4 \ir install/apply.sql
\set file functions/internal/_open_line.sql \set sha256 9874d52cff3438fa6d97f337bc859d506db31250b5e6897b79199e738ce1e387 \ir install/apply.sql
\set file functions/internal/_outlook_words.sql \set sha256 3daf9c82ea82836c5de6793a7b0c1f175f19e107217dea5f4d1e937f1a4b97a9 \ir install/apply.sql
\set file functions/internal/_output_share.sql \set sha256 97a9fbd3b8e945476613fa808fae4d7ad2c6877e5771195c2b4b2494e4b5b89a \ir install/apply.sql
\set file functions/internal/_own_batch.sql \set sha256 1fb811bbf1cd32dde3a12a05dec0cfa6bfafd07ea42f667f984b4539833f2cf1 \ir install/apply.sql
\set file functions/internal/_parse_limit.sql \set sha256 cb5b4ca20ffa6a16c07aa7d89f96ae08eec48c023d44d34608c3da4a0708db0d \ir install/apply.sql
\set file functions/internal/_parse_limits.sql \set sha256 a0b05483ed8fe3c7320991299cbd1c3bc9b2b51b2b1bd03d66ff487a8a4c673f \ir install/apply.sql
\set file functions/internal/_parse_period.sql \set sha256 75114248241eb4454f4c5b0b527d8c1bfe4b864aee859c74eba5d69641767c56 \ir install/apply.sql
\set file functions/internal/_parse_task.sql \set sha256 dcba1e8988d5e2b7995262e24051538f6a11c75fdfd116d1a260a60c97f0020c \ir install/apply.sql
\set file functions/internal/_parse_usage.sql \set sha256 6c8dbbd59b059e4fc8193755426fce349655045f2a19c5e12414b7816a9a500a \ir install/apply.sql
\set file functions/internal/_pause.sql \set sha256 3eed227d268c0d148cc033efd816a8e9e0dec2410a2134a809d5cfae7965ed60 \ir install/apply.sql
\set file functions/internal/_pay.sql \set sha256 bbed138b63d3e7412682dbfc55ecc8e829ef2f383b24bac73c34f083524784e5 \ir install/apply.sql
\set file functions/internal/_period_words.sql \set sha256 00f6d8841498d814bd39b2e9788b3673cbf02fc5ea2cc70a11c7b29ec133f74c \ir install/apply.sql
\set file functions/internal/_pick.sql \set sha256 b59487d94e5c83f2195eefadcbbdadf7b6e2c9d511e8898699b44d53d6d4ef6a \ir install/apply.sql
\set file functions/internal/_place_in_line.sql \set sha256 51274a8fdb8aa68f1c126574369d414b6cfecb3168d56bb436340273298c851f \ir install/apply.sql
\set file functions/internal/_price_call.sql \set sha256 e5a913cf3464418c31f8040579d0e858610e7c2616426464ef8685431031ef7c \ir install/apply.sql
\set file functions/internal/_projected_rooms.sql \set sha256 a94c51ca6e77b4503f69e5193b4dd2705c9e9b450173a2c8c296777f13ad570f \ir install/apply.sql
\set file functions/internal/_projected_usd.sql \set sha256 5b9491e6a99ec665f1f3bed66fccc995beafde10b565cd1bce67f84a68f9d357 \ir install/apply.sql
\set file functions/internal/_quota_limits.sql \set sha256 0979e1d64960631e9658ff434cefae97b5f336af99837002ed9b150bf7fce8a8 \ir install/apply.sql
\set file functions/internal/_quota_rooms.sql \set sha256 7b93a735afb01b26c657fdf5d5b1c5a3d1c75ab7900a6fb0580770d73204ca1a \ir install/apply.sql
\set file functions/internal/_quota_state.sql \set sha256 ccd96e106d3fcedbcdb6c2949a3a4dbf1b7fe096c5737be138245c080368a385 \ir install/apply.sql
\set file functions/internal/_quota_throttle.sql \set sha256 cd2d25d03f4a0cde1bb163c7af81378b594e099ad9e5f9b102a5e4eeeb2a92fb \ir install/apply.sql
\set file functions/internal/_ranked_line.sql \set sha256 2eda36e4d320a92b078ed137056f8bf7a3c1df71284ab2c82069f006ef077bcc \ir install/apply.sql
\set file functions/internal/_record_usage.sql \set sha256 f9d84466560df7dc4919367a9e56e9badfca3b75266a939ebf3e5753dba4619b \ir install/apply.sql
\set file functions/internal/_recorded_usd.sql \set sha256 48a7c148f67dd1752ae09654140ee49e5c890b8e3f0653ee0672d2e41a893343 \ir install/apply.sql
\set file functions/internal/_refill.sql \set sha256 528de7ce3a9956f4f1ec34898939a7c1a4b3823d00738acbb98feff0b0c9bff2 \ir install/apply.sql
\set file functions/internal/_refuse.sql \set sha256 2ceb0c1021ae03892f76f27e0953655d9a11773c163bab6934e2f50972dc5c5e \ir install/apply.sql
\set file functions/internal/_remaining.sql \set sha256 8eac83bfffc6b1d476ab40028d48dc1b0fe362b725de84d637a23d6ece8d1d61 \ir install/apply.sql
\set file functions/internal/_report.sql \set sha256 cf008159bc9b0b7f1e3751137d3f57ff5162fd8bbc36432c6b3db7fa9c3b31e4 \ir install/apply.sql
\set file functions/internal/_report_effect.sql \set sha256 cca44a142ef57021fdf342fdc6938e9e5fe07ce7b00f7c537051b23118e1be7d \ir install/apply.sql
\set file functions/internal/_report_event.sql \set sha256 884f0df1889582c9f4bd7567f72d8b46fa4b27bc7dd715a680721196bcfc6b84 \ir install/apply.sql
\set file functions/internal/_request_burst.sql \set sha256 834425b19d5ad6045d10bdaf99098f63703793fe3101767d72d9b80a32b2d72a \ir install/apply.sql
\set file functions/internal/_require_agent_definition.sql \set sha256 361490cd1f0648a23d24eec6092f1c9c78d5840f9cb3adc7c953ac500aaadf9c \ir install/apply.sql
\set file functions/internal/_require_agents.sql \set sha256 da67b2a489d1c7c28044aeb80024d325b9b6a890b67f3ab5f2baca6f016ca8b8 \ir install/apply.sql
\set file functions/internal/_require_between.sql \set sha256 481a44ff3094737bef1a34c1f22851a6eb3804d529b54687da24ce8c5fa2ed8e \ir install/apply.sql
\set file functions/internal/_require_call.sql \set sha256 c909cf7e1c0439a7b75612fca157745a8c029af3175eef63b071d145e31d5e29 \ir install/apply.sql
\set file functions/internal/_require_delay.sql \set sha256 cb60385fa2150164531be20ddb91b72d9335bd2a10a17b4ffadb30722c809f6b \ir install/apply.sql
\set file functions/internal/_require_ids.sql \set sha256 fc6a992477719a7572b769f9aad019867dd8e364fa4fb12b7f5d685d6f305a01 \ir install/apply.sql
\set file functions/internal/_require_launchers.sql \set sha256 79301b1cdf251d3b587f91f7430fa375572b46894863176e72cf67faa2d17a86 \ir install/apply.sql
\set file functions/internal/_require_open.sql \set sha256 6bfd3f9411590ebbe2f788168b8619eb279916c8c063a5110ac472447cc7004a \ir install/apply.sql
\set file functions/internal/_require_quotas.sql \set sha256 4ea0f809aca600f71cb4d136cdb81964095270ae2c9e23fb700f2f909d9885b9 \ir install/apply.sql
\set file functions/internal/_require_read_committed.sql \set sha256 87df65af32982ee589f05e15180b058d3e21fa44dad1f3e87ca0c0f658a02eec \ir install/apply.sql
\set file functions/internal/_require_short_line.sql \set sha256 9b7bb2b034d8125524a0f89ee522f8b7030bb834f79df88d19ea5935bcf54b80 \ir install/apply.sql
\set file functions/internal/_require_size.sql \set sha256 028dc0b1f7148494435d482d8c2cc6a58cd1e092790a24e72bf02f83b2f5fc90 \ir install/apply.sql
\set file functions/internal/_require_statuses.sql \set sha256 f544d1fe66cce0f9846681661ce65e83ce05a4846932a9225fdab714ee731c89 \ir install/apply.sql
\set file functions/internal/_require_unreported.sql \set sha256 839078419687f91b75001af4777fad6fdcbaa395fdc4fdf537e4a136753a3487 \ir install/apply.sql
\set file functions/internal/_require_worker.sql \set sha256 ec22cb05a259e9571582eb247529e8e1b747afe8e232e6b1b8312657984de46a \ir install/apply.sql
\set file functions/internal/_reservation.sql \set sha256 a87149b9e768adbae19532c31f8b063de5b22b5c2fb9f771438671ef62012f64 \ir install/apply.sql
\set file functions/internal/_result_fault.sql \set sha256 735a89744a3ddf4158111f47564dc8f1b9f8124e1e307a8c80ebb17420fc50a2 \ir install/apply.sql
\set file functions/internal/_retry.sql \set sha256 ac911aab7d316d29e181e97caf6094f04bdcd1408b2c879f5180a7d990e4ace0 \ir install/apply.sql
\set file functions/internal/_room.sql \set sha256 2a31a9f137915cb6cf248047efb75313b6eff7a51af733216052834427f4b782 \ir install/apply.sql
\set file functions/internal/_rule_words.sql \set sha256 48de85b12338bad78d9c0d60ab5d9ae4e78f356781fc3d7afe6c7749fd6e054c \ir install/apply.sql
\set file functions/internal/_run_outcome.sql \set sha256 79d6d17f61facbb23fbaec4fb5baeba17ce0b756ab45e298a08218d965a6a7cc \ir install/apply.sql
\set file functions/internal/_run_words.sql \set sha256 59e56519f3b5b917db7da39a8229b2625aea28d1644b39bafd4c0df3917cef90 \ir install/apply.sql
\set file functions/internal/_seen.sql \set sha256 2add6c3f77f4884d21fd0852188ba48bc02172fba510a4848c49e6ae8c0b4217 \ir install/apply.sql
\set file functions/internal/_set_budget.sql \set sha256 7a747f18bfedb79091f2ca55993e93161bea9733585e24c9c68b94c9ce088da4 \ir install/apply.sql
\set file functions/internal/_set_shared.sql \set sha256 7ec23c60cb1a6ce082897216c3e72adf9bcf922f346220730447a1b2d59b5f5f \ir install/apply.sql
\set file functions/internal/_settle.sql \set sha256 88ea2d33ba3998c88fe955bd8fd452d27e582414065af80548c761ab71c7950b \ir install/apply.sql
\set file functions/internal/_settle_call.sql \set sha256 e706c930c38b6952a5fc98f6f341365d6c82080d3010e72f77acd8e75b4d4db9 \ir install/apply.sql
\set file functions/internal/_share.sql \set sha256 d8a2f82ee92afaf5a013bb994b31744b770103d290a822edc86c3bf52e4116f8 \ir install/apply.sql
\set file functions/internal/_short_customers.sql \set sha256 c6d6c9f25c32afe038f7c87f83b9d4293e8ff5599935941da3558297df6104cb \ir install/apply.sql
\set file functions/internal/_slot_at.sql \set sha256 af7b53f936f2e7d444257178482848cfb9ad5252d2a9bdf5b1d9861d2d280bc9 \ir install/apply.sql
\set file functions/internal/_spend.sql \set sha256 2b7dac256d8300ff87bc6f276d6965c7fc53d34b6c909b6e9eb2748dbe31af7f \ir install/apply.sql
\set file functions/internal/_spent_today.sql \set sha256 dd0c551383f2943e87572262532bf9df93d4535ee8e7890faa57bf0a9e3c46a8 \ir install/apply.sql
\set file functions/internal/_stands_before.sql \set sha256 1f71dc7b0107ed66025c83046a2fdff1f3151287db0d9dbe59442223ba09c242 \ir install/apply.sql
\set file functions/internal/_starts_at.sql \set sha256 62cddb479ceef7cd950da3e39f7de72902d666c020ace18d1fdf52ea37daf0f4 \ir install/apply.sql
\set file functions/internal/_still_asks.sql \set sha256 c5fee3a8d81e21b2dafa552fa646fbdb368ffd0195a7c69204c4637dbd99f9cb \ir install/apply.sql
\set file functions/internal/_strict_line.sql \set sha256 ca6d2a3ac1d37cd4fac5a0192071dc74d5da04d2d5c55416041f9134cdd1f179 \ir install/apply.sql
\set file functions/internal/_supplied_rooms.sql \set sha256 790dce3795d57d2d1a2fda5afa30608f0c79f6548e224461544a3448ef6829d9 \ir install/apply.sql
\set file functions/internal/_take_money.sql \set sha256 19c0127699d2ec1de86cfef298d9e94dbb9fc11ac5985a1deb2428aa64dc12ce \ir install/apply.sql
\set file functions/internal/_take_room.sql \set sha256 3e78ff40a25c0bd481ef6a3d80b6289fb81d680d1b926dacb0884997940957f4 \ir install/apply.sql
\set file functions/internal/_take_turns.sql \set sha256 4e88b5da5f76a333322ba4ede245f2ef4f67d3c33433b4337a6f311402d8aea4 \ir install/apply.sql
\set file functions/internal/_take_usage.sql \set sha256 7d56988fe9c86205b5d4cb089c985d1e14f1f3b716a138936c4a4208833e0e45 \ir install/apply.sql
\set file functions/internal/_task_rooms.sql \set sha256 1b8cc9abeef39d5ebabf724bd477bbe4b2be9f7060e6306364f35ecd8d441457 \ir install/apply.sql
\set file functions/internal/_throttle.sql \set sha256 43367143c176449b3fd01e62ab464c92db1e8a1b1cc15fabf01e84d4ba2ba061 \ir install/apply.sql
\set file functions/internal/_throttled_by.sql \set sha256 860c2ccd2609392a5761d8875d21f8fcacebd7746f1fa90e14f746f3afc6173f \ir install/apply.sql
\set file functions/internal/_token_burst.sql \set sha256 c8d15de5e741c26a04f5f847025cc2146e06a6128188567f8421138cd36aa5aa \ir install/apply.sql
\set file functions/internal/_told.sql \set sha256 c17c893ab3d905b1d56f6b5687b8aea23928d358e04e3c92391f51f6d934e264 \ir install/apply.sql
\set file functions/internal/_turn_cost.sql \set sha256 dd692319cfcea9e5d5c6c3a20d64b3a1a22f3add9e259c2805e8f95c8452276b \ir install/apply.sql
\set file functions/internal/_turns.sql \set sha256 7437bc280483d1c125ebb7305793d6613c9daa44b8031a1c8d609dd31154876d \ir install/apply.sql
\set file functions/internal/_usage_source.sql \set sha256 20bc427efcd2051091362353872ff58307004abc7c7ef9c4598c5e1b08ea9964 \ir install/apply.sql
\set file functions/internal/_utc_day.sql \set sha256 e723bc7e3027aa2dc4abd4f1afc2de619730fb164fbbdf0b31e335673fd15505 \ir install/apply.sql
\set file functions/internal/_waiting_priorities.sql \set sha256 48adae1f800195df14211eb2cdb48c36b5c87bb835293bce75a13f992488bfe5 \ir install/apply.sql
\set file functions/internal/_waiting_reason.sql \set sha256 9a904f9b09b267ededc42f68eb525c549bea11f282269d444634659226895bae \ir install/apply.sql
\set file functions/internal/_waiting_words.sql \set sha256 a791288653a0b81456bb75006850fe9d2fa5f8e8ed732f89d1478849f20520b0 \ir install/apply.sql
\set file functions/internal/_wake_due.sql \set sha256 d9690394da5ae40c7b0de0a1e34c2bb6c53bab9b9788e727e6d41f7eea252dd3 \ir install/apply.sql
\set file functions/internal/_window_length.sql \set sha256 baa0fc1e2df2231559327e534a6151576ff2fc6c7ddb876e4536b405ac4ca4e0 \ir install/apply.sql
\set file functions/internal/_window_used.sql \set sha256 fe2781be5dcebeab3273122e8a0c1d4e8b7b30a70d0d08d340f83de5fdc029ed \ir install/apply.sql
\set file functions/internal/_within.sql \set sha256 b5744d9041a04c20c9a6f9a3664d784d63b7954558634f66c9f3826fae53e6e2 \ir install/apply.sql
\set file functions/internal/_without_quotas.sql \set sha256 38e4057503fbdba4df84b469b2a91e136cbf2cfd7fca24247acd629241101828 \ir install/apply.sql

-- functions/submitter
\set file functions/submitter/batch_tasks.sql \set sha256 67089590108e01ce781eb5381e94e3dfc49245a43a9a4b27475bc9e92c0bd7c2 \ir install/apply.sql
\set file functions/submitter/cancel_batch.sql \set sha256 9403965db9336cfc3ce7878a1251024cd4ece3b20e8ca55f857a110b4f9eeab2 \ir install/apply.sql
\set file functions/submitter/enqueue.sql \set sha256 fc5460563e221c5463b40f99b1799ef202fc17d1fcbc670816f8ff84b7efac2c \ir install/apply.sql
\set file functions/submitter/enqueue_many.sql \set sha256 09a2235334a9325884f37f2100cade240cd9123714dc1db059a2cd46ddbf6a8b \ir install/apply.sql
\set file functions/submitter/open_batch.sql \set sha256 c1d8a74a829f3d5e2d66404e1aee51d33320e9585e08bcb99bd3c1e070bd38d8 \ir install/apply.sql
\set file functions/submitter/retry_batch.sql \set sha256 5547e1cc0780eb9f97d2fe28ed885bdc95f834919e53b4f016a4a0bf39829204 \ir install/apply.sql

-- functions/worker
\set file functions/worker/adopt.sql \set sha256 4020a054c4bb3024fe404786a7b45c30072cec8cbc0bddde3ee663a371912409 \ir install/apply.sql
\set file functions/worker/dequeue.sql \set sha256 20bc1effd78446190a5c1b26fd5a58cfc0c5bbf47143a65aa3231e1eb46b5008 \ir install/apply.sql
\set file functions/worker/observe_run.sql \set sha256 df271566de0d8dfd8733bbdd2944b16b42f29d5281e107e26cbf8e4308a75e89 \ir install/apply.sql
\set file functions/worker/record_run.sql \set sha256 6b8cdb5df837051fe0e597319d43c027339b895d0c5b039ce722237aac8754f0 \ir install/apply.sql
\set file functions/worker/release.sql \set sha256 bd298d744d00c8f11279f86e3338e905f5d27f686dc090c2a1cdbd1402fca4b3 \ir install/apply.sql
\set file functions/worker/renew_leases.sql \set sha256 c0886187a0d032b3d2ba28d10b703ead09d84ef2c89c631ba7efdc36c8fb7bcc \ir install/apply.sql
\set file functions/worker/runs_to_cancel.sql \set sha256 93d9491bc167c42b5b6e2473281519e3582140e2e925ab59d039d19ad459a52f \ir install/apply.sql
\set file functions/worker/sweep.sql \set sha256 92ac36d6af92af40c61f8317ef5999e24114ddf05814441b1439322c13265cfa \ir install/apply.sql

-- functions/agent
\set file functions/agent/callback.sql \set sha256 3976b3b19df5538d0c61c0ce411a4405bae5ceee05766c6bb9f71132034b5f66 \ir install/apply.sql
\set file functions/agent/complete.sql \set sha256 28fa401c8917c9c15328ed76f20df9373eadf321598ca4ccd692ceffe3f80809 \ir install/apply.sql
\set file functions/agent/complete_many.sql \set sha256 11ff8fa50e76346648f74a98638451988b3b1e2841831e93fa0afeece2159f79 \ir install/apply.sql
\set file functions/agent/fail.sql \set sha256 e232fd604bee662f0aa049365a1f6932d6d80ddcb800762a33aefafadb57af30 \ir install/apply.sql
\set file functions/agent/may_call.sql \set sha256 3eb2ac8e40cb88eb3413a7920e574445c6e113ac20d6a6d0e6d9de33fd9e539e \ir install/apply.sql
\set file functions/agent/report_progress.sql \set sha256 6b091bc6f7b2068b9c76076b1236572391f20522bdccb5dc7c0e65018cc2997b \ir install/apply.sql
\set file functions/agent/report_usage.sql \set sha256 a45d453f967c7063379f427d99aea25c124575fd1112c52baf8208c3df20af18 \ir install/apply.sql

-- functions/operator
\set file functions/operator/cancel.sql \set sha256 b19ea52fc8de6ef90dceeffed54f89665cadb96b18894ae9d5196b679f27b373 \ir install/apply.sql
\set file functions/operator/lift_spend_cap.sql \set sha256 451f8c159489d1df59c58e7f2f9efef2008ebc7cd55e8341496d81a302be9fa8 \ir install/apply.sql
\set file functions/operator/open_installation.sql \set sha256 e5b2b0811a664b4631cc8068039da44dd771bf0b26c96ceb7253aece540cd53a \ir install/apply.sql
\set file functions/operator/pause_agent.sql \set sha256 644ab2d29c190cbc44c73505248c30a271f9f175c402c7933e3837f6247295f7 \ir install/apply.sql
\set file functions/operator/register_agent.sql \set sha256 f054bb5b1db44a021fd9e73da95f49b253e0f1601447c56c0b023de6622e6640 \ir install/apply.sql
\set file functions/operator/register_customer.sql \set sha256 5d56cc0a8648496b06fbd5cae91fb936d2fd0644a3d1d34b4a23bffcb7f84d28 \ir install/apply.sql
\set file functions/operator/register_price.sql \set sha256 58489196b26dc6aaddbdf1e33e279b9fe5b5a0406e1cc1948df43cbf5a842452 \ir install/apply.sql
\set file functions/operator/register_quota.sql \set sha256 e5391965f32661d06b27ec46b148888a7da7e671918dd3a0c1fc7c8edae78948 \ir install/apply.sql
\set file functions/operator/reprioritize.sql \set sha256 c9172a0708c1d16a4b7b526a3d53a42b05f5384f30587e21ed7de392902b7921 \ir install/apply.sql
\set file functions/operator/reprocess.sql \set sha256 9d5d25c6083ddcbb47f811e3b806571e53857a3b9b868ac072aa2badffcd8212 \ir install/apply.sql
\set file functions/operator/resume_agent.sql \set sha256 db459936d8d9245af2fdb4f80e9f583e04b829c447ed19b3d0faef77e94a9b39 \ir install/apply.sql
\set file functions/operator/retry.sql \set sha256 eebedeaffb36fc9ca4386539eb4b58e5a08f81e20ac860b58f118a8a2adaaf8f \ir install/apply.sql

-- functions/viewer
\set file functions/viewer/agent_status.sql \set sha256 9cd7eaa533d10982ef4877467e31db0ec912e7638e7f84cb343b5cbc3cdddd77 \ir install/apply.sql
\set file functions/viewer/batch_progress.sql \set sha256 11cf33c25ab77eaf5520703aabdce002ded4782b6233a47881f3460f83ac226e \ir install/apply.sql
\set file functions/viewer/customer_status.sql \set sha256 6dfaa03c337fa646b974d4bdf834f4a8d94d3555668260b622abd3f289369bd6 \ir install/apply.sql
\set file functions/viewer/explain_task.sql \set sha256 802776974044080b4f8ad5c10a43ae8390fa6a5db7e722197d81066cf35880d1 \ir install/apply.sql
\set file functions/viewer/health.sql \set sha256 21b60ac521a393140aca9b9baf0b16a04f5ce5a06beefa8060e3bf56bf48c314 \ir install/apply.sql
\set file functions/viewer/list_prices.sql \set sha256 61ab1d0f1fd679944412a47db70259067df003be318644ddfdab6a9f16e755ec \ir install/apply.sql
\set file functions/viewer/list_tasks.sql \set sha256 2a7b72e4a117033e6bf855eb10d79ecf8b1f79ad14e9094b0bf7ead8a8b0fec5 \ir install/apply.sql
\set file functions/viewer/quota_status.sql \set sha256 e205f16df9581da44fd0004ba2996c4c4b54ad2c056520636a9708592e8acdfb \ir install/apply.sql
\set file functions/viewer/schema_version.sql \set sha256 f451f0971e84e14822f60ff1b0e39b4ea6641d73f1114d518675eaec53ede4c4 \ir install/apply.sql
\set file functions/viewer/server_time.sql \set sha256 0f5e4990a8b04d9c7f4865c6c6617474d0f70ae3750d91abb4cbfdbc808c21bf \ir install/apply.sql
\set file functions/viewer/task_counts.sql \set sha256 f260bbd3778ec11d21ea5d7d38bbdc324d9a5f66d8c35912797cd08b4d2a901c \ir install/apply.sql
\set file functions/viewer/task_detail.sql \set sha256 474356fb541233ac10069278ef2689e88052d735eb04f60d6da53513ddeedcc1 \ir install/apply.sql

-- functions/reader
\set file functions/reader/task_result.sql \set sha256 c6d7748297226f79a170d35090dbb52466db5d9abb59128fcf53ca2214c2810f \ir install/apply.sql

-- triggers
\set file triggers/agents.sql \set sha256 f3e88d9f6e055f86fa97342ee967bb70c2be612210f072a77ac7aa25bbb18c91 \ir install/apply.sql
\set file triggers/tasks.sql \set sha256 b51f2c870e7943746dc863230dbb2f5a7021b08f72afddeac5649eb4b9943638 \ir install/apply.sql
\set file triggers/wakeups.sql \set sha256 f495c2bbeff83254abb6d26cc01c37947b57dc126579b6ed19a421e17c03bf07 \ir install/apply.sql

-- grants.sql
\set file grants.sql \set sha256 bcee58367dd292498d19722660d00e161d33987cde53c653bc914aa2e6cebdfd \ir install/apply.sql

\ir install/finish.sql

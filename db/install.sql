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
\set file migrations/0004_hold_quotas.sql \set sha256 cda059a4bb36746cae10a462b8d7e1c60eac9779122a8e31cc4f2121b42f329e \ir install/apply.sql

-- functions/internal
\set file functions/internal/_admit.sql \set sha256 0e9e2f1226db3472f2d1d32fd083677c42f3e2616a4b3a2ea0400ed6f9f73d92 \ir install/apply.sql
\set file functions/internal/_after_failure.sql \set sha256 93c509a5198e22144264683cc6e5871b1b473910d50f38e3acfc777065a64a72 \ir install/apply.sql
\set file functions/internal/_aged_order.sql \set sha256 a9b93f727e53d662f5f874c9e6873ee2f029266d4c34d0233b1a22208276c690 \ir install/apply.sql
\set file functions/internal/_agent_key.sql \set sha256 a3485185c8d3b59a229f11d9a952ce90dcd0d7c51ebc86e0d8145213555b9891 \ir install/apply.sql
\set file functions/internal/_agent_state.sql \set sha256 aa8dfefdea6cfa62717326fa2dbca909e65fb15dda764e593b11c0750d430539 \ir install/apply.sql
\set file functions/internal/_ask_wakeup.sql \set sha256 ea3529365d510cf512f1a0078fc072fce111b6a7ff87d7fd89c6b8a8af7a50eb \ir install/apply.sql
\set file functions/internal/_audit.sql \set sha256 5aaafc89472ce203c6af52123fd031c69f7d52f9936208a041d35543c3aab3da \ir install/apply.sql
\set file functions/internal/_backoff.sql \set sha256 e5fd54a476f52e7631d845c69930d339c8775bc8229726e12a0cc90668661f04 \ir install/apply.sql
\set file functions/internal/_boosted.sql \set sha256 544383c2c7540d1d9f20c4bb31cc290f955580ee176e8d7776c72c0ecd1aafec \ir install/apply.sql
\set file functions/internal/_call_hindrance.sql \set sha256 8c1787af989ae3db706e7a85719639d48c0a59c6a14d6367ea58f0e4b8cc53f6 \ir install/apply.sql
\set file functions/internal/_called_at.sql \set sha256 d15fca6471ad8d94a025e18833d618f52684036ac109f9d67a5f1142a7a3226a \ir install/apply.sql
\set file functions/internal/_calls_ahead.sql \set sha256 db82a973cc094cbe965884d0a7645a37f5712c64b9225d0723f4065d2bc63dbf \ir install/apply.sql
\set file functions/internal/_calls_to_come.sql \set sha256 693ab0633d21e1f4f96c115396f2f1662010335d72522a7c068cc900de901975 \ir install/apply.sql
\set file functions/internal/_cancel.sql \set sha256 f153b94eca5ced28d6bd1a30fa51b754bb33587a9b07bacab7dc688527cbd636 \ir install/apply.sql
\set file functions/internal/_candidates.sql \set sha256 11f4cfe828293e842d19973ab28c62d844f597bf2e5c762e92d9574b5f84371b \ir install/apply.sql
\set file functions/internal/_cap_today.sql \set sha256 9184dbbfca13ccae52c9e208ea4996f443bcd48e9029435f33697251fb207ec5 \ir install/apply.sql
\set file functions/internal/_capped_customers.sql \set sha256 b35dcc555c844573f39fb6cbb11a3f5f8b57faace050b74a604c29a1a1b2d65d \ir install/apply.sql
\set file functions/internal/_caps.sql \set sha256 183b4bebc5b7582af65d28d022c11b4ef74e5a088448de7ff631d651238399f1 \ir install/apply.sql
\set file functions/internal/_claim.sql \set sha256 9fc0bce26a7365a633ebcaf7035e6779cf2ef5cc26f546f3387a703d1119cf39 \ir install/apply.sql
\set file functions/internal/_cluster.sql \set sha256 d4d75bb468ce6263c7c032552073e6d08fd4cd40da05f2ebc7b625559da548a9 \ir install/apply.sql
\set file functions/internal/_count_ahead.sql \set sha256 9097e2f4cd2784c5359cbea9056aa91c34f9ff8cb2988fd7309c6bef426ca1c1 \ir install/apply.sql
\set file functions/internal/_dearest_usd_per_m.sql \set sha256 dbd1c312ef7ebc87da9d559d899aaab7bbd1ecccb2d034778c1a24eac41e4e73 \ir install/apply.sql
\set file functions/internal/_defer.sql \set sha256 44c951962cf82bdda7f255aa058b0376435bf81fed48d4533dc9affc0b536f22 \ir install/apply.sql
\set file functions/internal/_effective_priority.sql \set sha256 beabadd7ff286a78fbbca6bd88c71afce5257019bd9e8799ff6e02d2337d959f \ir install/apply.sql
\set file functions/internal/_effects.sql \set sha256 44bdbb6316fa21f102773ec2e9e28e5c092149d797b0100fe87bb4a5d6ce5348 \ir install/apply.sql
\set file functions/internal/_end_expired.sql \set sha256 a072c760eca2ca7ef2facc2463f81fb0844e9f05b28c5e9bbcdb2ca5a3052791 \ir install/apply.sql
\set file functions/internal/_end_observed.sql \set sha256 d9f7896a577be3bb394906b77900e30513cf7dc499cd699db0ffdffbbf6f88cf \ir install/apply.sql
\set file functions/internal/_end_refusals.sql \set sha256 f81ab770ce886fca9159faaf19dc6cf3d13c6b349d78125b5a6bb9ba24dccf67 \ir install/apply.sql
\set file functions/internal/_error.sql \set sha256 cd3f0ca2189329a7305b07e3b940ff94a8a039eca204042e39be2446bc265b56 \ir install/apply.sql
\set file functions/internal/_estimate.sql \set sha256 90a7b3cd67185b61ce1978eee7034186277545a63f17ea43e9cc965cd387cfe5 \ir install/apply.sql
\set file functions/internal/_exact.sql \set sha256 455671cb8f315cfb1c726aec478afb7bfcc0afb89864fe18ac50baabd064ed63 \ir install/apply.sql
\set file functions/internal/_expect.sql \set sha256 4d924a040c4b3572bf2cbece00a836b5be6fc71b932a522ced8f840da19f6100 \ir install/apply.sql
\set file functions/internal/_expired_priority.sql \set sha256 4b6026c2865e459884fe36658638d476a88409117d8e0bd245e79fc76545150e \ir install/apply.sql
\set file functions/internal/_expiry_error.sql \set sha256 0760b11b9f0946d5fad4fc1c65b5019285f91641829a52fcf34ff88806d86f47 \ir install/apply.sql
\set file functions/internal/_explain_running.sql \set sha256 b33c8016c171d7d8eddf60b4256f4f8572769e851b9d5f81f45ee9967f33e1fb \ir install/apply.sql
\set file functions/internal/_explain_waiting.sql \set sha256 8c343aec60274353d3052c3534ec685ab95731f09c400c39393f0b9686dd2ce0 \ir install/apply.sql
\set file functions/internal/_fair_order.sql \set sha256 71b7627298baa9e84dda2c11cc0e7ba4260d8d0329cb8c5f932a20cc27c933b4 \ir install/apply.sql
\set file functions/internal/_fits.sql \set sha256 c5126e3abbff33ca93825cff7d141a297ff02ea4b42f6fd4bc2e2108a3722446 \ir install/apply.sql
\set file functions/internal/_fitting.sql \set sha256 beac65c23b2b7bf202cbe39194a259c8d7e071a258de074479608910e1913c72 \ir install/apply.sql
\set file functions/internal/_flight_state.sql \set sha256 d17be853f83c1475bef7433cbdcb766ac09e61ec865122c71a486ef11f7d2098 \ir install/apply.sql
\set file functions/internal/_fold_quota.sql \set sha256 dd028571f0ef92ade1a16988d4a2ef8bceb843352daf35a07030a633f4c0e586 \ir install/apply.sql
\set file functions/internal/_fold_spend.sql \set sha256 3b77910284d7b0a807dd6c9cf4db028ff89f64780a4c7421b7b523fb44c7a404 \ir install/apply.sql
\set file functions/internal/_forget_calls.sql \set sha256 543e95f7ef09a1df90e2286c3556f69f276a5e4c815ea5d5a03f4986578acca4 \ir install/apply.sql
\set file functions/internal/_forget_refusals.sql \set sha256 c006e9c78c9eb5ff6cb5d5281decfcf84059625e7be9e82703218e7d255a4caa \ir install/apply.sql
\set file functions/internal/_free_at.sql \set sha256 c3b1fdaa7f2b9fe47bb4de68cf1f8cebbc899f124cf4a6f681db7700ff6509cc \ir install/apply.sql
\set file functions/internal/_get_agent.sql \set sha256 7bd9baf71d420bc9044e02d8d9a06fcb4fe1960d03168ddcf473ec13a2ff2b61 \ir install/apply.sql
\set file functions/internal/_get_attempt.sql \set sha256 fc2a2167cc87ae79b74d68c51172e99cb4b53992fa4d9ce23097258a47d34afb \ir install/apply.sql
\set file functions/internal/_get_batch.sql \set sha256 07688b3d7f07308ef032d81b5584e5b6c4b4062a81202492a8db34fde63408bf \ir install/apply.sql
\set file functions/internal/_get_effective.sql \set sha256 cba2d943e1cd1620ba09de167ba7fe7c317c33e4f6e72f9f7c0ea85eb7e898cb \ir install/apply.sql
\set file functions/internal/_get_task.sql \set sha256 30a9c110ca13ef8bffe364086364c57e823a968ae2aa350ccc62d948def7f861 \ir install/apply.sql
\set file functions/internal/_give_back.sql \set sha256 64d6d9ca58876f9dd759e7f5e14f2fe275bb2208835ad9b789946ebd96ef9307 \ir install/apply.sql
\set file functions/internal/_grant_call.sql \set sha256 bd2bf27f63c410208a77646117b1402e3d150b546cee84838a7ae8566cccd26e \ir install/apply.sql
\set file functions/internal/_has_caps.sql \set sha256 a8c683dbce9ab59eb7581e6f69e054759d268b9b003b3b62c9e404928ca8becd \ir install/apply.sql
\set file functions/internal/_head.sql \set sha256 0fa29a8e81305b9d8376a201a150267cccdcd27b4f5ee5c2abd912669854753d \ir install/apply.sql
\set file functions/internal/_hindrance.sql \set sha256 b9a70eb6464f53c9632949b2919d2eb3f61aa19e5acc6667b193728607e893e1 \ir install/apply.sql
\set file functions/internal/_in_flight.sql \set sha256 06e9202d6b4e648d4a8823283d937488ea68e8d388221bb8d4181e76c7a43551 \ir install/apply.sql
\set file functions/internal/_in_unit.sql \set sha256 fc2b161e8d67c7d70d88986283a2f085de919f0e74038d3bb5b8aeac99d66c94 \ir install/apply.sql
\set file functions/internal/_in_use.sql \set sha256 c8790fb5345e871914d116c638a4d307972084fb9bc5a1cac61f8abcf5a49908 \ir install/apply.sql
\set file functions/internal/_is_copy.sql \set sha256 a16d5c03b1f76d519b8dd00c4238eb98c3b6a2739cb4328067abd00fe2e70bfd \ir install/apply.sql
\set file functions/internal/_is_expired.sql \set sha256 b8d0c5dd7f575401868679a842526a77e3b04ccc36c49aaa470b21fe9362aa12 \ir install/apply.sql
\set file functions/internal/_is_external.sql \set sha256 5e10841f05851a8d8fd31bcd808d016008cb801c84c58b52386a12c99b567b0b \ir install/apply.sql
\set file functions/internal/_is_limited.sql \set sha256 52e57877dce3bbe9bdd2d46c8d8ad6f29fdd74023b243e9452745c6d99387566 \ir install/apply.sql
\set file functions/internal/_is_refused.sql \set sha256 c48a664f43dcd0cdfa1bc454716a96bcb708a96951d1a33fc43114f16599eeb7 \ir install/apply.sql
\set file functions/internal/_is_weighed.sql \set sha256 aa0bc8479853b3f7fbd13a2af918058a4b2095cc46366ce083423badf79afb71 \ir install/apply.sql
\set file functions/internal/_json_boolean.sql \set sha256 a769eaa3a99ba7bf2bb0b51107d5b8bd2f880cbe03f932e1c5c10e75a246196e \ir install/apply.sql
\set file functions/internal/_json_integer.sql \set sha256 aa89010552744c1f8531110d1ff75fbf302d3f7b3c90de56fa26ec9d05963fe6 \ir install/apply.sql
\set file functions/internal/_json_name.sql \set sha256 a0b3eed59e65b0591bd4f5704c3e6ef60fa68219e808eca9f4f1b0698e44ede5 \ir install/apply.sql
\set file functions/internal/_json_number.sql \set sha256 dcd95cc0a395edf41a4c5d74ff8aadebccdfa853c68cebce1dc2a9f6ab99a695 \ir install/apply.sql
\set file functions/internal/_json_text.sql \set sha256 b6d9b9a01a4d1b56a80d552adfbb0d6c7c3a07ba672d8fbe043afdec50e15f5c \ir install/apply.sql
\set file functions/internal/_json_time.sql \set sha256 b1d3406939b8c43b6e7dfc1744e19655cdca0193c41106914fdec157031a6838 \ir install/apply.sql
\set file functions/internal/_judge_call.sql \set sha256 d4ff583038db2967d904dc81b75a9e0ba833eb41b20a1bf23308a55956099a58 \ir install/apply.sql
\set file functions/internal/_last_minute.sql \set sha256 602aea63544344058cec050d456dac64fe22b5b8b6daf9495f3aad282d43e98b \ir install/apply.sql
\set file functions/internal/_last_refusal.sql \set sha256 a35fcd0d9407232bc6ca3c1b57706f8df63add61a4f0707842ca04be188de486 \ir install/apply.sql
\set file functions/internal/_learned.sql \set sha256 ffea92f5f93928596b37b37b3c3245cf2c7d1a279084ac41572fd3842a8ce95d \ir install/apply.sql
\set file functions/internal/_levels.sql \set sha256 8679dfb0a58ae6df64599eeb460c795171291b4a674084ca890f11cb3dc84257 \ir install/apply.sql
\set file functions/internal/_limits.sql \set sha256 26f8cac4223dcfb4aa4ebe397c8e59c6da73af30ee3859a472b6b281e8be2296 \ir install/apply.sql
\set file functions/internal/_line.sql \set sha256 411e472b85fa83a86c35184f1a5e8096ef71bc4b4e0ca41a71ba090398635872 \ir install/apply.sql
\set file functions/internal/_line_key.sql \set sha256 e550d2a752f5f98e463ce2a2c9a32e1bb76a0636e704d953652380dd548457ab \ir install/apply.sql
\set file functions/internal/_line_state.sql \set sha256 38d3a3c88181685b45d1c93546e68fe74e675a72b3fb7a03cfa2b54109036924 \ir install/apply.sql
\set file functions/internal/_lined_up.sql \set sha256 341b5a9854e8ab4f94ab3920acdec59cad5288d802f3c84628ec036fcaddd826 \ir install/apply.sql
\set file functions/internal/_lock_agent.sql \set sha256 41d51c730a01d6d2ae04f2949580da2c7c92a0ad347c3e1ad50867eb5679aa3e \ir install/apply.sql
\set file functions/internal/_lock_attempt.sql \set sha256 7223dafda72c4c0d5c2855bc73e5d5b08bc1a2b15d59ef97bb5d48325ac8122c \ir install/apply.sql
\set file functions/internal/_lock_customers.sql \set sha256 9162de0cc1f07345bbffe171f59fc8f05039ff13cc6e17bebd970abdcbf1a5af \ir install/apply.sql
\set file functions/internal/_lock_definition.sql \set sha256 bdce51e1f5876c48acc110fe5cac424333d934121af9121b2ad542e29e91d81f \ir install/apply.sql
\set file functions/internal/_lock_end_of_line.sql \set sha256 b1d36b027060c5ab4dcf4dcd849287b6bc59ab32262c4e03398033027d58a62e \ir install/apply.sql
\set file functions/internal/_lock_quotas.sql \set sha256 cc76e52192d82bb1861f9a6e6d6c99965a2e583eb168e8fdd63b4f594a4389ed \ir install/apply.sql
\set file functions/internal/_lock_tasks.sql \set sha256 1bb59ed43fc4a526ebc6360901fbccf3e9b9c0fe92e791a235dcbb1d2e861a71 \ir install/apply.sql
\set file functions/internal/_lowered.sql \set sha256 01f4c6b016366973edb35b75bb5e0a0a00ec872b7339f3a8c35f626c88aac944 \ir install/apply.sql
\set file functions/internal/_match_keys.sql \set sha256 c10bf1077ec8cc4237b0ac0014b744421a4ba41dcb12708e309d6e235367e8a6 \ir install/apply.sql
\set file functions/internal/_matching_tasks.sql \set sha256 b3eebffa8f759b257bfe8793811bf96d3fd1e4f23a37d4d181026835318136d3 \ir install/apply.sql
\set file functions/internal/_may_defer.sql \set sha256 bc0d72ace88cb297ee3c4de996a5ea35fad97f5711331187c4fb7b802de11b18 \ir install/apply.sql
\set file functions/internal/_may_dispatch.sql \set sha256 53d8c44d0fab321981410328d384ab1eaab4e92c47813ebc8ebc79733716450a \ir install/apply.sql
\set file functions/internal/_may_retry.sql \set sha256 ae5a265c8ac8c8a4fe5c46a0c5c40a445a3abe4d9448ec85bb5ac38fabc0333e \ir install/apply.sql
\set file functions/internal/_may_start.sql \set sha256 aedd273507581b35bf794b94c09cf4a67063069e09013a80bc9d20ac4a522e56 \ir install/apply.sql
\set file functions/internal/_measure.sql \set sha256 2b7db25576d86ae7c361c81269ee13f9da94ab57b95f63a971325204cc6c4876 \ir install/apply.sql
\set file functions/internal/_moment_words.sql \set sha256 c7a9665934a7a9bbf0dc03532a234217d70256f6723ab8f21d3920a27d97aec6 \ir install/apply.sql
\set file functions/internal/_names.sql \set sha256 4b98395b29edf3db3bf636f18c26d2b17235c1ddd70b16a5d42a98c9511bf6f4 \ir install/apply.sql
\set file functions/internal/_need.sql \set sha256 e95e492bb70b71cca03975bcdb15f792ec2eddeb2ca23bb5f8e0b29add798ecb \ir install/apply.sql
\set file functions/internal/_next_round.sql \set sha256 262d6c317d5c45df08a0845b96f2e615d330fe4d3ebdab5daffbace029feb89d \ir install/apply.sql
\set file functions/internal/_notify.sql \set sha256 5dc8fa1ba0122aac03a0ae92b7902a731df763d15b7d1a65ff628ab8a71b01cd \ir install/apply.sql
\set file functions/internal/_now.sql \set sha256 f9db6e24961e35a4a3f1017bb5cc80ec05b0133d997195ae743bf43c33e57d30 \ir install/apply.sql
\set file functions/internal/_number_words.sql \set sha256 f532a9268dabe3b71a4cafd2315d10cd9fdeb3fecb663cca179351b3790e42a3 \ir install/apply.sql
\set file functions/internal/_obstacle.sql \set sha256 394e38c4c398734eff3f04efb69f6f4a482e1d579e5c8e097232e6788986e095 \ir install/apply.sql
\set file functions/internal/_open_calls.sql \set sha256 f5f9ccef9b80ff75c2b86acd45153002cda27b0f7dbae0f7e893fc27b0c728f5 \ir install/apply.sql
\set file functions/internal/_open_line.sql \set sha256 28f7a1ae43f34ef4c8255ea5bff83d1bad1ea420b8e52964e813955842baad7a \ir install/apply.sql
\set file functions/internal/_outlook_words.sql \set sha256 375dd3e79cc44d152297c69491dec86a717775623d747f920fec626303da24bb \ir install/apply.sql
\set file functions/internal/_output_share.sql \set sha256 97a9fbd3b8e945476613fa808fae4d7ad2c6877e5771195c2b4b2494e4b5b89a \ir install/apply.sql
\set file functions/internal/_own_batch.sql \set sha256 1fb811bbf1cd32dde3a12a05dec0cfa6bfafd07ea42f667f984b4539833f2cf1 \ir install/apply.sql
\set file functions/internal/_parse_limit.sql \set sha256 cb5b4ca20ffa6a16c07aa7d89f96ae08eec48c023d44d34608c3da4a0708db0d \ir install/apply.sql
\set file functions/internal/_parse_limits.sql \set sha256 a0b05483ed8fe3c7320991299cbd1c3bc9b2b51b2b1bd03d66ff487a8a4c673f \ir install/apply.sql
\set file functions/internal/_parse_period.sql \set sha256 75114248241eb4454f4c5b0b527d8c1bfe4b864aee859c74eba5d69641767c56 \ir install/apply.sql
\set file functions/internal/_parse_task.sql \set sha256 dcba1e8988d5e2b7995262e24051538f6a11c75fdfd116d1a260a60c97f0020c \ir install/apply.sql
\set file functions/internal/_parse_usage.sql \set sha256 6c8dbbd59b059e4fc8193755426fce349655045f2a19c5e12414b7816a9a500a \ir install/apply.sql
\set file functions/internal/_pause.sql \set sha256 3eed227d268c0d148cc033efd816a8e9e0dec2410a2134a809d5cfae7965ed60 \ir install/apply.sql
\set file functions/internal/_pay.sql \set sha256 bbed138b63d3e7412682dbfc55ecc8e829ef2f383b24bac73c34f083524784e5 \ir install/apply.sql
\set file functions/internal/_period_words.sql \set sha256 92ee5d1afb9fc2dca461cd772c52cd415e6971c10d494f256e87858a77fd0d65 \ir install/apply.sql
\set file functions/internal/_pick.sql \set sha256 9784dc94e7413a5bffd41ea6d22b317c665f520da1e1e70ede8b9c840593f82e \ir install/apply.sql
\set file functions/internal/_place_in_line.sql \set sha256 3e6c004b06854d27ea0acf0c76743b439b82db49b820ef559d466714e2dc84b0 \ir install/apply.sql
\set file functions/internal/_price_call.sql \set sha256 e5a913cf3464418c31f8040579d0e858610e7c2616426464ef8685431031ef7c \ir install/apply.sql
\set file functions/internal/_projected_rooms.sql \set sha256 cd5dd11f31e29a793d2a7dec9e4ce3fc892072c330dab1a984a34faadd207079 \ir install/apply.sql
\set file functions/internal/_quota_limits.sql \set sha256 a9620a96d156af4a8e91730b7cff1bc4d1710c7dbaeb421b8a400215c8e7136b \ir install/apply.sql
\set file functions/internal/_quota_rooms.sql \set sha256 7b93a735afb01b26c657fdf5d5b1c5a3d1c75ab7900a6fb0580770d73204ca1a \ir install/apply.sql
\set file functions/internal/_quota_state.sql \set sha256 572ca821f88e58acc9073bd026dda9adfec391e90d0d52f7716bd7f4c1a30a80 \ir install/apply.sql
\set file functions/internal/_quota_throttle.sql \set sha256 cd2d25d03f4a0cde1bb163c7af81378b594e099ad9e5f9b102a5e4eeeb2a92fb \ir install/apply.sql
\set file functions/internal/_ranked_line.sql \set sha256 2eda36e4d320a92b078ed137056f8bf7a3c1df71284ab2c82069f006ef077bcc \ir install/apply.sql
\set file functions/internal/_record_usage.sql \set sha256 cd62f9c553b97ee8138d09edd3b2905ac2b5763e2b55f92da41ec78ec66725d8 \ir install/apply.sql
\set file functions/internal/_refill.sql \set sha256 528de7ce3a9956f4f1ec34898939a7c1a4b3823d00738acbb98feff0b0c9bff2 \ir install/apply.sql
\set file functions/internal/_refilled_at.sql \set sha256 19fbdcc0cc4bb14d94ee214390ae18df46b8ed8047b5dc2215256940bcf0f7ad \ir install/apply.sql
\set file functions/internal/_refuse.sql \set sha256 3bbabdaca6e47cfe922e3f9fa64e07b7913dbde6f2ad5a47447ab073d9e09a9e \ir install/apply.sql
\set file functions/internal/_remaining.sql \set sha256 9882066f05e4c874f1aff619d8e343a4d00c1abcb8d89af92a5e317db6e95de3 \ir install/apply.sql
\set file functions/internal/_report.sql \set sha256 164dd6c21c245266daa399346ac555e09aa6fc6596192e1d46d9277c3d2813b8 \ir install/apply.sql
\set file functions/internal/_report_effect.sql \set sha256 cca44a142ef57021fdf342fdc6938e9e5fe07ce7b00f7c537051b23118e1be7d \ir install/apply.sql
\set file functions/internal/_report_event.sql \set sha256 884f0df1889582c9f4bd7567f72d8b46fa4b27bc7dd715a680721196bcfc6b84 \ir install/apply.sql
\set file functions/internal/_request_burst.sql \set sha256 834425b19d5ad6045d10bdaf99098f63703793fe3101767d72d9b80a32b2d72a \ir install/apply.sql
\set file functions/internal/_require_agent_definition.sql \set sha256 f123699ae7181be1eeaf2d2d332c2d93f5b4c825838897e0d3580570a8ed767e \ir install/apply.sql
\set file functions/internal/_require_agents.sql \set sha256 da67b2a489d1c7c28044aeb80024d325b9b6a890b67f3ab5f2baca6f016ca8b8 \ir install/apply.sql
\set file functions/internal/_require_between.sql \set sha256 481a44ff3094737bef1a34c1f22851a6eb3804d529b54687da24ce8c5fa2ed8e \ir install/apply.sql
\set file functions/internal/_require_call.sql \set sha256 20281ca71c26a52e69d4c36096df11c241f00ffe557c285bc47dd63da45d59a9 \ir install/apply.sql
\set file functions/internal/_require_delay.sql \set sha256 cb60385fa2150164531be20ddb91b72d9335bd2a10a17b4ffadb30722c809f6b \ir install/apply.sql
\set file functions/internal/_require_ids.sql \set sha256 fc6a992477719a7572b769f9aad019867dd8e364fa4fb12b7f5d685d6f305a01 \ir install/apply.sql
\set file functions/internal/_require_launchers.sql \set sha256 79301b1cdf251d3b587f91f7430fa375572b46894863176e72cf67faa2d17a86 \ir install/apply.sql
\set file functions/internal/_require_open.sql \set sha256 6bfd3f9411590ebbe2f788168b8619eb279916c8c063a5110ac472447cc7004a \ir install/apply.sql
\set file functions/internal/_require_quotas.sql \set sha256 4ea0f809aca600f71cb4d136cdb81964095270ae2c9e23fb700f2f909d9885b9 \ir install/apply.sql
\set file functions/internal/_require_short_line.sql \set sha256 9b7bb2b034d8125524a0f89ee522f8b7030bb834f79df88d19ea5935bcf54b80 \ir install/apply.sql
\set file functions/internal/_require_size.sql \set sha256 028dc0b1f7148494435d482d8c2cc6a58cd1e092790a24e72bf02f83b2f5fc90 \ir install/apply.sql
\set file functions/internal/_require_statuses.sql \set sha256 f544d1fe66cce0f9846681661ce65e83ce05a4846932a9225fdab714ee731c89 \ir install/apply.sql
\set file functions/internal/_require_worker.sql \set sha256 ec22cb05a259e9571582eb247529e8e1b747afe8e232e6b1b8312657984de46a \ir install/apply.sql
\set file functions/internal/_reservation.sql \set sha256 b68914739bccd02da13b5049681fd0478e6c4e5c8696c825ba948a05cba190f3 \ir install/apply.sql
\set file functions/internal/_result_fault.sql \set sha256 735a89744a3ddf4158111f47564dc8f1b9f8124e1e307a8c80ebb17420fc50a2 \ir install/apply.sql
\set file functions/internal/_retry.sql \set sha256 cb60488eb0ef6421ad0b33967b869d779311eb84fa89c4eecaaec45ff90e3c61 \ir install/apply.sql
\set file functions/internal/_room.sql \set sha256 2a31a9f137915cb6cf248047efb75313b6eff7a51af733216052834427f4b782 \ir install/apply.sql
\set file functions/internal/_rule_words.sql \set sha256 a8f8bf1c25d17fee3f2e1c9209cba9e3662031d119ec9bb3a03b284a1dd8d1db \ir install/apply.sql
\set file functions/internal/_run_outcome.sql \set sha256 79d6d17f61facbb23fbaec4fb5baeba17ce0b756ab45e298a08218d965a6a7cc \ir install/apply.sql
\set file functions/internal/_run_words.sql \set sha256 59e56519f3b5b917db7da39a8229b2625aea28d1644b39bafd4c0df3917cef90 \ir install/apply.sql
\set file functions/internal/_seen.sql \set sha256 2add6c3f77f4884d21fd0852188ba48bc02172fba510a4848c49e6ae8c0b4217 \ir install/apply.sql
\set file functions/internal/_set_budget.sql \set sha256 7a747f18bfedb79091f2ca55993e93161bea9733585e24c9c68b94c9ce088da4 \ir install/apply.sql
\set file functions/internal/_set_shared.sql \set sha256 7ec23c60cb1a6ce082897216c3e72adf9bcf922f346220730447a1b2d59b5f5f \ir install/apply.sql
\set file functions/internal/_settle.sql \set sha256 80704b8abaf4c40998b8d1064d2a47e0da6eeaddd97a0a89f7967f1e39d136e7 \ir install/apply.sql
\set file functions/internal/_settle_call.sql \set sha256 9273ca734f0c3e44625ef1aab25b453d15cb8d8da2828056a513a2b41584403c \ir install/apply.sql
\set file functions/internal/_share.sql \set sha256 d8a2f82ee92afaf5a013bb994b31744b770103d290a822edc86c3bf52e4116f8 \ir install/apply.sql
\set file functions/internal/_shares.sql \set sha256 ff2433c26485715e013141d78307835ff3f9401f8df5fd0dda0a5eb1b4a96180 \ir install/apply.sql
\set file functions/internal/_slot_at.sql \set sha256 af7b53f936f2e7d444257178482848cfb9ad5252d2a9bdf5b1d9861d2d280bc9 \ir install/apply.sql
\set file functions/internal/_spend.sql \set sha256 7f9e02ace6afc6a16fbd31e01026fdeaa87050d4d9755faf3f5a1523e83ac863 \ir install/apply.sql
\set file functions/internal/_spent_today.sql \set sha256 22dddc7a24c54c81d658a8882371401318b46d3d07e7a6df1674f67472458b5f \ir install/apply.sql
\set file functions/internal/_stands_before.sql \set sha256 1f71dc7b0107ed66025c83046a2fdff1f3151287db0d9dbe59442223ba09c242 \ir install/apply.sql
\set file functions/internal/_starts_at.sql \set sha256 458ce96df4a5362bcd3a9cbdee4b7855e0a4bdd1f89eb289404bee1d1f8df2e6 \ir install/apply.sql
\set file functions/internal/_strict_line.sql \set sha256 46dfedefdff391f40ff979e10e7da8a41fa4ad5dc445a373acc5be83c659f429 \ir install/apply.sql
\set file functions/internal/_supplied_rooms.sql \set sha256 b347cc1ae7bab2a54510bba20b90cff312cd396810f07eb6d7b6684b36f5e823 \ir install/apply.sql
\set file functions/internal/_take_money.sql \set sha256 19c0127699d2ec1de86cfef298d9e94dbb9fc11ac5985a1deb2428aa64dc12ce \ir install/apply.sql
\set file functions/internal/_take_room.sql \set sha256 ecca34515aa5d0ebda953d1c1ad3fbf06b40032ea466e47d12d8ab3f89830d0c \ir install/apply.sql
\set file functions/internal/_take_turns.sql \set sha256 e5b52c8256edf01948a13ad47b1315f9b00bc944195af7634f4ae830753f00f9 \ir install/apply.sql
\set file functions/internal/_take_usage.sql \set sha256 5b877cc88df2c70911a5b946fac579f04578cb1e664103b327638d0789b4128b \ir install/apply.sql
\set file functions/internal/_throttle.sql \set sha256 32ecd9aed99534dc41a1f384bbdaa098b06b4141f742c931ed834cb6d176039a \ir install/apply.sql
\set file functions/internal/_throttled_by.sql \set sha256 85da807e00b3d5b4b8703dde7643b1398e96abd9d03cc19c9972de0bbfba3ca5 \ir install/apply.sql
\set file functions/internal/_token_burst.sql \set sha256 c8d15de5e741c26a04f5f847025cc2146e06a6128188567f8421138cd36aa5aa \ir install/apply.sql
\set file functions/internal/_turn_cost.sql \set sha256 dd692319cfcea9e5d5c6c3a20d64b3a1a22f3add9e259c2805e8f95c8452276b \ir install/apply.sql
\set file functions/internal/_usage_source.sql \set sha256 eff4bef699b75d14444e49c7caa0ba4ec86fcd1892af13eadaaf49cdcd735b2f \ir install/apply.sql
\set file functions/internal/_utc_day.sql \set sha256 e723bc7e3027aa2dc4abd4f1afc2de619730fb164fbbdf0b31e335673fd15505 \ir install/apply.sql
\set file functions/internal/_waiting_customers.sql \set sha256 9798ff8e363a2fc4c4148d0c6b303a9d47907a00b1dee9e169b303724013f660 \ir install/apply.sql
\set file functions/internal/_waiting_priorities.sql \set sha256 48adae1f800195df14211eb2cdb48c36b5c87bb835293bce75a13f992488bfe5 \ir install/apply.sql
\set file functions/internal/_waiting_words.sql \set sha256 e64a4815d9a9f783c32e9d2211e2f24e118e38ba3e906f2eb800ef38d071d203 \ir install/apply.sql
\set file functions/internal/_wake_due.sql \set sha256 d9690394da5ae40c7b0de0a1e34c2bb6c53bab9b9788e727e6d41f7eea252dd3 \ir install/apply.sql
\set file functions/internal/_window_length.sql \set sha256 5dcf692a0114b2b34301a2aa13d7a68daf9f0e5be839bd8193fdf29fb92048ff \ir install/apply.sql
\set file functions/internal/_window_used.sql \set sha256 180be133a6c34c32724e51a5bec5b1e810ffe33b7e1a768703ce1a45d5eeec46 \ir install/apply.sql

-- functions/submitter
\set file functions/submitter/batch_tasks.sql \set sha256 67089590108e01ce781eb5381e94e3dfc49245a43a9a4b27475bc9e92c0bd7c2 \ir install/apply.sql
\set file functions/submitter/cancel_batch.sql \set sha256 9403965db9336cfc3ce7878a1251024cd4ece3b20e8ca55f857a110b4f9eeab2 \ir install/apply.sql
\set file functions/submitter/enqueue.sql \set sha256 fc5460563e221c5463b40f99b1799ef202fc17d1fcbc670816f8ff84b7efac2c \ir install/apply.sql
\set file functions/submitter/enqueue_many.sql \set sha256 0e45f7518a3dfe8d8a23b593b430a106501caf62dccec6b29978d975ac8b0e85 \ir install/apply.sql
\set file functions/submitter/open_batch.sql \set sha256 c1d8a74a829f3d5e2d66404e1aee51d33320e9585e08bcb99bd3c1e070bd38d8 \ir install/apply.sql
\set file functions/submitter/retry_batch.sql \set sha256 5547e1cc0780eb9f97d2fe28ed885bdc95f834919e53b4f016a4a0bf39829204 \ir install/apply.sql

-- functions/worker
\set file functions/worker/adopt.sql \set sha256 4020a054c4bb3024fe404786a7b45c30072cec8cbc0bddde3ee663a371912409 \ir install/apply.sql
\set file functions/worker/dequeue.sql \set sha256 bca5e57a450a15c237d612546a058b66506063f0f566de3d4d8cb36d85b7b05c \ir install/apply.sql
\set file functions/worker/observe_run.sql \set sha256 df271566de0d8dfd8733bbdd2944b16b42f29d5281e107e26cbf8e4308a75e89 \ir install/apply.sql
\set file functions/worker/record_run.sql \set sha256 6b8cdb5df837051fe0e597319d43c027339b895d0c5b039ce722237aac8754f0 \ir install/apply.sql
\set file functions/worker/release.sql \set sha256 939a00f65da44f63a2bb61e933bf9fc405d54bcb8bac49ef38b0345aa794d719 \ir install/apply.sql
\set file functions/worker/renew_leases.sql \set sha256 c0886187a0d032b3d2ba28d10b703ead09d84ef2c89c631ba7efdc36c8fb7bcc \ir install/apply.sql
\set file functions/worker/runs_to_cancel.sql \set sha256 93d9491bc167c42b5b6e2473281519e3582140e2e925ab59d039d19ad459a52f \ir install/apply.sql
\set file functions/worker/sweep.sql \set sha256 92ac36d6af92af40c61f8317ef5999e24114ddf05814441b1439322c13265cfa \ir install/apply.sql

-- functions/agent
\set file functions/agent/callback.sql \set sha256 3976b3b19df5538d0c61c0ce411a4405bae5ceee05766c6bb9f71132034b5f66 \ir install/apply.sql
\set file functions/agent/complete.sql \set sha256 28fa401c8917c9c15328ed76f20df9373eadf321598ca4ccd692ceffe3f80809 \ir install/apply.sql
\set file functions/agent/complete_many.sql \set sha256 11ff8fa50e76346648f74a98638451988b3b1e2841831e93fa0afeece2159f79 \ir install/apply.sql
\set file functions/agent/fail.sql \set sha256 e232fd604bee662f0aa049365a1f6932d6d80ddcb800762a33aefafadb57af30 \ir install/apply.sql
\set file functions/agent/may_call.sql \set sha256 1505510583621d7806a655830966b20514e615f54be22a5424178cd4e1d07429 \ir install/apply.sql
\set file functions/agent/report_progress.sql \set sha256 6b091bc6f7b2068b9c76076b1236572391f20522bdccb5dc7c0e65018cc2997b \ir install/apply.sql
\set file functions/agent/report_usage.sql \set sha256 e118dd0571a06e7b64ed0bb4aa0231ed5ce9925623e628e8fdcedbe219bc6b75 \ir install/apply.sql

-- functions/operator
\set file functions/operator/cancel.sql \set sha256 b19ea52fc8de6ef90dceeffed54f89665cadb96b18894ae9d5196b679f27b373 \ir install/apply.sql
\set file functions/operator/lift_spend_cap.sql \set sha256 acef991a971047fa9862af701e323e411ed4dc10aa3f30dd61b6648bd136a4a2 \ir install/apply.sql
\set file functions/operator/open_installation.sql \set sha256 e5b2b0811a664b4631cc8068039da44dd771bf0b26c96ceb7253aece540cd53a \ir install/apply.sql
\set file functions/operator/pause_agent.sql \set sha256 644ab2d29c190cbc44c73505248c30a271f9f175c402c7933e3837f6247295f7 \ir install/apply.sql
\set file functions/operator/register_agent.sql \set sha256 a722809a4500b8fe71e2d3bb55ad5153daf9574fd91502f9de0ae0a5842558e9 \ir install/apply.sql
\set file functions/operator/register_customer.sql \set sha256 5d56cc0a8648496b06fbd5cae91fb936d2fd0644a3d1d34b4a23bffcb7f84d28 \ir install/apply.sql
\set file functions/operator/register_price.sql \set sha256 58489196b26dc6aaddbdf1e33e279b9fe5b5a0406e1cc1948df43cbf5a842452 \ir install/apply.sql
\set file functions/operator/register_quota.sql \set sha256 86b9893b1cb31e939e68539f203af5d8cfc603d3b9e19a049e1721f9397157e8 \ir install/apply.sql
\set file functions/operator/reprioritize.sql \set sha256 c9172a0708c1d16a4b7b526a3d53a42b05f5384f30587e21ed7de392902b7921 \ir install/apply.sql
\set file functions/operator/reprocess.sql \set sha256 55a5471ecc17897c735e63a325621a3cc81c643d307863fa4b4e198426c0afc3 \ir install/apply.sql
\set file functions/operator/resume_agent.sql \set sha256 db459936d8d9245af2fdb4f80e9f583e04b829c447ed19b3d0faef77e94a9b39 \ir install/apply.sql
\set file functions/operator/retry.sql \set sha256 eebedeaffb36fc9ca4386539eb4b58e5a08f81e20ac860b58f118a8a2adaaf8f \ir install/apply.sql

-- functions/viewer
\set file functions/viewer/agent_status.sql \set sha256 7c396ff16d95e6ab8fa940a43615af0727d45c6ec78460afbed60c7af94ffee6 \ir install/apply.sql
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
\set file functions/viewer/task_detail.sql \set sha256 e63185990f820a264a83e2cb06df15299c8fc7d99af62b5b82a4e70c251380a1 \ir install/apply.sql

-- functions/reader
\set file functions/reader/task_result.sql \set sha256 c6d7748297226f79a170d35090dbb52466db5d9abb59128fcf53ca2214c2810f \ir install/apply.sql

-- triggers
\set file triggers/agents.sql \set sha256 f3e88d9f6e055f86fa97342ee967bb70c2be612210f072a77ac7aa25bbb18c91 \ir install/apply.sql
\set file triggers/tasks.sql \set sha256 b51f2c870e7943746dc863230dbb2f5a7021b08f72afddeac5649eb4b9943638 \ir install/apply.sql
\set file triggers/wakeups.sql \set sha256 f495c2bbeff83254abb6d26cc01c37947b57dc126579b6ed19a421e17c03bf07 \ir install/apply.sql

-- grants.sql
\set file grants.sql \set sha256 bcee58367dd292498d19722660d00e161d33987cde53c653bc914aa2e6cebdfd \ir install/apply.sql

\ir install/finish.sql
